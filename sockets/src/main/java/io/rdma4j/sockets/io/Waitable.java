package io.rdma4j.sockets.io;

import org.jspecify.annotations.Nullable;

/** An endpoint that threads and selectors wait for. Thread safe. */
public interface Waitable {
    /** What it is ready for: a set of {@link Readiness}. */
    int readiness();

    /** What it is ready for as far as it has been told: nothing is driven to find out more. */
    int knownReadiness();

    /** Like {@link #readiness}; and who listens is told of the next change. */
    int readinessToWait();

    /**
     * Waits until it is ready for something.
     *
     * @param wanted a set of {@link Readiness}; hang-up and errors always end the wait
     * @param deadlineNanos a time of {@link System#nanoTime}; {@link Long#MAX_VALUE} for ever
     * @return what it is ready for; 0 if the time is over or the thread interrupted (its flag stays set)
     */
    int await(int wanted, long deadlineNanos);

    /** Has a listener called whenever something may have changed: by any thread, so it must be quick and wait for nobody. */
    void addListener(Runnable listener);

    /** Takes {@link #addListener} back. */
    void removeListener(Runnable listener);

    /** Where to wait for it, or null while it has no queue pair: then listeners are told of everything. */
    @Nullable
    CompletionHub hub();
}
