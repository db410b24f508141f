package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.pingpong.PingpongCommandLine.Form;

/** {@code ibv_srq_pingpong}: SENDs in both directions over reliable connections with a shared receive queue. */
public final class SrqPingpong extends PingpongTool {
    /** Creates the tool. */
    public SrqPingpong() {
        super(new Form("pdismqrnleogc"));
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
