package io.rdma4j.sockets.io;

import org.jspecify.annotations.Nullable;

/** An endpoint that threads and selectors wait for. Thread safe. */
public interface Waitable {
    /** What it is ready for: a set of {@link Readiness}. */
    int readiness();

    /** Like {@link #readiness}; and who listens is told of the next change. */
    int readinessToWait();

    /** Has a listener called whenever something may have changed: by any thread, so it must be quick and wait for nobody. */
    void addListener(Runnable listener);

    /** Takes {@link #addListener} back. */
    void removeListener(Runnable listener);

    /** Where to wait for it, or null while it has no queue pair: then listeners are told of everything. */
    @Nullable
    CompletionHub hub();
}
