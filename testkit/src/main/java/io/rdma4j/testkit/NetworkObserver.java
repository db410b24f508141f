package io.rdma4j.testkit;

import io.rdma4j.wire.Frame;

/** Is told what becomes of the frames of a {@link VirtualNetwork}. */
@FunctionalInterface
public interface NetworkObserver {
    /** What became of a frame. */
    enum Fate {
        /** It has arrived, as it is, maybe damaged. */
        ARRIVES,
        /** It never arrives. */
        LOST
    }

    /**
     * Takes note.
     *
     * @param nowNanos virtual time
     * @param fate what became of it
     * @param frame not changed any more; it may be kept
     */
    void onFrame(long nowNanos, Fate fate, Frame frame);
}
