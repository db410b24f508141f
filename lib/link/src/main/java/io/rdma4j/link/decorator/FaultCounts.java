package io.rdma4j.link.decorator;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts of the faults that a {@link FaultLink} has injected in one direction. Written by the link's thread, read by
 * any thread.
 */
public final class FaultCounts {
    /** Frames that were subject to the faults. */
    public final LongAdder frames = new LongAdder();

    /** Frames that were dropped. */
    public final LongAdder lost = new LongAdder();

    /** Frames that were delivered twice. */
    public final LongAdder duplicated = new LongAdder();

    /** Frames delayed until later ones had passed. */
    public final LongAdder reordered = new LongAdder();

    /** Frames in which a bit was flipped. */
    public final LongAdder corrupted = new LongAdder();

    /** Frames dropped because too many were held already, or because they exceed the largest RoCEv2 frame. */
    public final LongAdder overflowed = new LongAdder();

    /** Creates counters with the value zero. */
    FaultCounts() {}
}
