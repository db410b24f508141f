package io.rdma4j.link;

import java.util.concurrent.atomic.LongAdder;

/** Counters of one link. Written by the thread that drives the link, read by any thread. */
public final class LinkStatistics {
    /** Frames passed to the kernel. */
    public final LongAdder sentFrames = new LongAdder();

    /** Frames received. */
    public final LongAdder receivedFrames = new LongAdder();

    /** Frames that the kernel did not accept (full buffer, filter, unreachable peer). */
    public final LongAdder sendFailures = new LongAdder();

    /** Received datagrams dropped because they exceed the largest RoCEv2 frame. */
    public final LongAdder oversizeDatagrams = new LongAdder();

    /** Creates counters with the value zero. */
    public LinkStatistics() {}
}
