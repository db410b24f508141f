package io.rdma4j.verbs.wait;

/** Reacts to a {@link Signal}. */
@FunctionalInterface
public interface SignalListener {
    /**
     * Called after a change of the state that the signal stands for; possibly also without one. Any thread may call
     * this, also one that drives a device and holds its locks: it must not block and must not call the device.
     * An exception or Error that it throws is logged, and has no other effect.
     */
    void onSignal();
}
