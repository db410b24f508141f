package io.rdma4j.link;

import java.util.concurrent.atomic.LongAdder;

/** Counts of one link. Written by the thread that drives the link, read by any. */
public final class LinkStatistics {
    /** Frames handed to the kernel. */
    public final LongAdder sentFrames = new LongAdder();

    /** Frames received. */
    public final LongAdder receivedFrames = new LongAdder();

    /** Frames that the kernel did not take (full buffer, filter, unreachable peer). */
    public final LongAdder sendFailures = new LongAdder();

    /** Datagrams dropped on receive because they were larger than any RoCEv2 frame. */
    public final LongAdder oversizeDatagrams = new LongAdder();

    /** Creates counts of zero. */
    public LinkStatistics() {}
}
