package io.rdma4j.simulator.network;

import io.rdma4j.wire.Frame;

/** Observes the delivery or loss of the frames of a {@link VirtualNetwork}. */
@FunctionalInterface
public interface NetworkObserver {
    /** The outcome for a frame. */
    enum Fate {
        /** The frame was delivered, possibly corrupted. */
        ARRIVES,
        /** The frame was lost. */
        LOST
    }

    /**
     * Called once for each frame that is delivered or lost.
     *
     * @param nowNanos virtual time
     * @param fate the outcome
     * @param frame the frame, which is not modified afterwards and may be kept
     */
    void onFrame(long nowNanos, Fate fate, Frame frame);
}
