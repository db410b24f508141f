package io.rdma4j.sockets.async;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One kind of operation of a channel. At most one such operation is pending. Thread safe. */
final class Direction {
    private final String whenKilled;
    private final Supplier<? extends RuntimeException> whenPending;
    private @Nullable Operation<?> pending;
    private boolean isKilled;

    /**
     * Creates a direction without a pending operation.
     *
     * @param whenKilled the message of the exception after an operation has timed out or was cancelled
     * @param whenPending creates the exception for a second operation
     */
    Direction(String whenKilled, Supplier<? extends RuntimeException> whenPending) {
        this.whenKilled = whenKilled;
        this.whenPending = whenPending;
    }

    /** Throws an exception if no operation can begin. */
    synchronized void check() {
        if (isKilled) {
            throw new IllegalStateException(whenKilled);
        }
        if (pending != null) {
            throw whenPending.get();
        }
    }

    /** Begins an operation. Throws an exception if no operation can begin. */
    synchronized void begin(Operation<?> operation) {
        check();
        pending = operation;
    }

    /** Ends the pending operation. */
    synchronized void end() {
        pending = null;
    }

    /** Refuses all further operations, since it is unknown how much of the last one was done. */
    synchronized void kill() {
        isKilled = true;
    }

    synchronized @Nullable Operation<?> pending() {
        return pending;
    }
}
