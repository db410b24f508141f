package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.pingpong.PingpongCommandLine.Form;

/** {@code ibv_rc_pingpong}: SENDs in both directions over a reliable connection. */
public final class RcPingpong extends PingpongTool {
    /** Creates the tool. */
    public RcPingpong() {
        super(new Form("pdismrnlegoOPtcjNU"));
    }

    @Override
    public String name() {
        return "ibv_rc_pingpong";
    }

    @Override
    public String summary() {
        return "messages in both directions over a reliable connection, without the connection manager";
    }

    @Override
    PingpongTransport transport() {
        return new ConnectedTransport(true);
    }
}
