package io.rdma4j.tools.pingpong;

/** {@code ibv_rc_pingpong}: SENDs in both directions over a reliable connection. */
public final class RcPingpong extends PingpongTool {
    /** Creates the tool. */
    public RcPingpong() {
        super(new Form("p:d:i:s:m:r:n:l:eg:oOPtcjNU", 4096, 4096, "--sl=<sl>          service level value"));
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
