package io.rdma4j.link;

import java.util.concurrent.atomic.LongAdder;

/** What a {@link FaultLink} has done to the frames of one direction. Written by the link's thread, read by any. */
public final class FaultCounts {
    /** Frames that met the faults. */
    public final LongAdder frames = new LongAdder();

    /** Frames that vanished. */
    public final LongAdder lost = new LongAdder();

    /** Frames that went on twice. */
    public final LongAdder duplicated = new LongAdder();

    /** Frames held back behind later ones. */
    public final LongAdder reordered = new LongAdder();

    /** Frames of which a bit was changed. */
    public final LongAdder corrupted = new LongAdder();

    /** Frames dropped because too many were held already, or because they were larger than any RoCEv2 frame. */
    public final LongAdder overflowed = new LongAdder();

    /** Creates counts of zero. */
    FaultCounts() {}
}
