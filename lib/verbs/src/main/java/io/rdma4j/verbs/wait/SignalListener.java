package io.rdma4j.verbs.wait;

/** Reacts to a {@link Signal}. */
@FunctionalInterface
public interface SignalListener {
    /**
     * Called after a change of the signal's state; possibly also without a change. Any thread may call this, including
     * a thread that drives a device and holds its locks. It must not block, and must not call the device. A thrown
     * exception or Error is logged, and has no other effect.
     */
    void onSignal();
}
