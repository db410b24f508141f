package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.pingpong.PingpongCommandLine.Form;

/** {@code ibv_ud_pingpong}: datagrams in both directions. */
public final class UdPingpong extends PingpongTool {
    /** Creates the tool. */
    public UdPingpong() {
        // C's help says 2048, but its default is 1024.
        super(new Form("pdisrnlegc", 1024, 2048, "-l, --sl=<SL>", "send messages with service level <SL> (default 0)"));
    }

    @Override
    public String name() {
        return "ibv_ud_pingpong";
    }

    @Override
    public String summary() {
        return "datagrams in both directions, without the connection manager";
    }

    @Override
    PingpongTransport transport() {
        return new DatagramTransport();
    }
}
