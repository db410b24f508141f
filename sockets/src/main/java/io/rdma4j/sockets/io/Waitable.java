package io.rdma4j.sockets.io;

import org.jspecify.annotations.Nullable;

/** An endpoint that threads and selectors wait for. Thread safe. */
public interface Waitable {
    /** Returns the readiness: a set of {@link Readiness}. Polls for completions. */
    int readiness();

    /** Returns the readiness from the current state, without polling. */
    int knownReadiness();

    /** Returns the readiness like {@link #readiness}; listeners are notified of the next change. */
    int readinessToWait();

    /**
     * Waits until the endpoint is ready.
     *
     * @param wanted a set of {@link Readiness}; hang-up and errors always end the wait
     * @param deadlineNanos a time of {@link System#nanoTime}; {@link Long#MAX_VALUE} to wait indefinitely
     * @return the readiness; 0 on timeout, or if the thread is interrupted (its interrupt status stays set)
     */
    int await(int wanted, long deadlineNanos);

    /**
     * Adds a listener, called whenever the readiness may have changed. Any thread may call it, so it must not block.
     */
    void addListener(Runnable listener);

    /** Removes a listener. */
    void removeListener(Runnable listener);

    /**
     * Returns the hub to wait at, or null while there is no queue pair. Listeners are then notified of every change.
     */
    @Nullable
    CompletionHub hub();
}
