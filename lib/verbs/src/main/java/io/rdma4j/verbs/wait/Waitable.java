package io.rdma4j.verbs.wait;

/**
 * Something that threads wait for with a {@link io.rdma4j.verbs.WaitSet}: a completion channel, the asynchronous events of a device, an
 * event channel of the connection manager, or the readiness of a socket. C: a file descriptor for poll(2). Thread safe.
 */
public interface Waitable {
    /**
     * Returns whether the object has what a thread waits for, so that taking it does not wait. A closed object is ready:
     * the call that takes something throws {@link io.rdma4j.verbs.ClosedException}.
     *
     * <p>Once this has returned false, {@link #signal} is raised when it may return true.
     */
    boolean isReady();

    /** Returns the signal of the object; always the same one. */
    Signal signal();

    /** Returns what makes progress while a thread waits for the object. It may change over time. */
    WaitDriver waitDriver();

    /**
     * Returns whether a thread that waits for nothing else leaves the device to other threads while they wait or poll;
     * see {@link Waiter#Waiter(boolean)}.
     */
    default boolean yields() {
        return false;
    }
}
