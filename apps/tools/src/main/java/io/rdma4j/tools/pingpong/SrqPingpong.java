package io.rdma4j.tools.pingpong;

/** {@code ibv_srq_pingpong}: SENDs in both directions over reliable connections with a shared receive queue. */
public final class SrqPingpong extends PingpongTool {
    /** Creates the tool. */
    public SrqPingpong() {
        super(new Form("p:d:i:s:m:q:r:n:l:eog:c", 4096, 4096, "--sl=<sl>          service level value"));
    }

    @Override
    public String name() {
        return "ibv_srq_pingpong";
    }

    @Override
    public String summary() {
        return "messages in both directions over connections with a shared receive queue";
    }

    @Override
    PingpongTransport transport() {
        return new SharedReceivesTransport();
    }
}
