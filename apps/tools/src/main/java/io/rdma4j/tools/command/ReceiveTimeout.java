package io.rdma4j.tools.command;

import java.time.Duration;

/**
 * A timeout for the next message, far longer than all retransmissions together. When it expires, the peer has failed or
 * does not send. Not thread safe.
 */
public final class ReceiveTimeout {
    /** The system property that overrides the timeout, in milliseconds. */
    public static final String PROPERTY = "rdma4j.tools.receiveTimeoutMillis";

    private static final Duration DEFAULT = Duration.ofSeconds(20);

    private final long nanos;
    private long startNanos = System.nanoTime();

    /** Starts a timeout of 20 seconds, which most tools use. */
    public ReceiveTimeout() {
        this(DEFAULT);
    }

    /** Starts a timeout. */
    public ReceiveTimeout(Duration timeout) {
        nanos = Duration.ofMillis(Long.getLong(PROPERTY, timeout.toMillis())).toNanos();
    }

    /** Restarts the timeout, because a message has arrived. */
    public void restart() {
        startNanos = System.nanoTime();
    }

    /** Returns whether the timeout has expired. */
    public boolean isExpired() {
        return isExpired(0);
    }

    /** Returns whether the timeout and a further {@code extraNanos} have expired. */
    public boolean isExpired(long extraNanos) {
        return System.nanoTime() - startNanos > nanos + extraNanos;
    }

    /** Returns the timeout in nanoseconds. */
    public long nanos() {
        return nanos;
    }

    /** Returns the timeout as a duration. */
    public Duration duration() {
        return Duration.ofNanos(nanos);
    }

    /** Returns the timeout in seconds for use in a message, at least 1. */
    public long seconds() {
        return Math.max(1, nanos / 1_000_000_000);
    }
}
