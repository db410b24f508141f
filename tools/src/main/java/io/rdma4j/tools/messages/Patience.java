package io.rdma4j.tools.messages;

import java.time.Duration;

/**
 * A timeout for the next message, far longer than all retransmissions together. Exceeding it means that the peer has
 * failed or does not send.
 */
public final class Patience {
    /** Overrides the timeout, in milliseconds. */
    public static final String PROPERTY = "rdma4j.tools.patience";

    private static final long DEFAULT_MILLIS = 20_000;

    private final long nanos = duration().toNanos();
    private long since = System.nanoTime();

    /** Starts the timeout. */
    public Patience() {}

    /** Returns the timeout as a duration. */
    static Duration duration() {
        return Duration.ofMillis(Long.getLong(PROPERTY, DEFAULT_MILLIS));
    }

    /** Restarts the timeout, because a message has arrived. */
    public void refresh() {
        since = System.nanoTime();
    }

    /** Returns whether the timeout is exceeded. */
    public boolean isOver() {
        return System.nanoTime() - since > nanos;
    }

    /** Returns the timeout in nanoseconds. */
    public long nanos() {
        return nanos;
    }

    /** Returns the timeout in seconds for use in a message, at least 1. */
    public long seconds() {
        return Math.max(1, nanos / 1_000_000_000);
    }
}
