package io.rdma4j.verbs.wait;

/**
 * An object that threads wait for with a {@link io.rdma4j.verbs.WaitSet}. It is a completion channel, the asynchronous
 * events of a device, an event channel of the connection manager, or the readiness of a socket. C: a file descriptor
 * for poll(2). Thread safe.
 */
public interface Waitable {
    /**
     * Returns whether the object is ready: a call that takes an event or data does not wait. A closed object is ready,
     * and the call throws {@link io.rdma4j.verbs.ClosedException}.
     *
     * <p>After this has returned false, {@link #signal} is raised when it may return true.
     */
    boolean isReady();

    /** Returns the signal of the object; always the same one. */
    Signal signal();

    /** Returns the driver that makes progress while a thread waits for the object. It may change over time. */
    WaitDriver waitDriver();

    /**
     * Returns whether a thread that waits only for such objects leaves the device to other threads that wait or poll. See
     * {@link Waiter#Waiter(boolean)}.
     */
    default boolean yields() {
        return false;
    }
}
