package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.pingpong.PingpongCommandLine.Form;

/** {@code ibv_uc_pingpong}: SENDs in both directions over an unreliable connection. */
public final class UcPingpong extends PingpongTool {
    /** Creates the tool. */
    public UcPingpong() {
        super(new Form("pdismrnlegc"));
    }

    @Override
    public String name() {
        return "ibv_uc_pingpong";
    }

    @Override
    public String summary() {
        return "messages in both directions over an unreliable connection, without the connection manager";
    }

    @Override
    PingpongTransport transport() {
        return new ConnectedTransport(false);
    }
}
