package io.rdma4j.tools.messages;

import java.time.Duration;

/** How long to wait for a message before something must be wrong: a moment far beyond every retransmission. */
final class Patience {
    /** Names another number of milliseconds. */
    static final String PROPERTY = "rdma4j.tools.patience";

    private static final long DEFAULT_MILLIS = 20_000;

    private final long nanos = duration().toNanos();
    private long since = System.nanoTime();

    /** The same as a time-out. */
    static Duration duration() {
        return Duration.ofMillis(Long.getLong(PROPERTY, DEFAULT_MILLIS));
    }

    /** Something has come. */
    void refresh() {
        since = System.nanoTime();
    }

    /** Whether nothing has come for too long. */
    boolean isOver() {
        return System.nanoTime() - since > nanos;
    }

    long seconds() {
        return Math.max(1, nanos / 1_000_000_000);
    }
}
