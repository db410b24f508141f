package io.rdma4j.tools.messages;

import java.time.Duration;

/** How long to wait for a message before something must be wrong: a moment far beyond every retransmission. */
public final class Patience {
    /** Names another number of milliseconds. */
    public static final String PROPERTY = "rdma4j.tools.patience";

    private static final long DEFAULT_MILLIS = 20_000;

    private final long nanos = duration().toNanos();
    private long since = System.nanoTime();

    /** Begins to wait. */
    public Patience() {}

    /** The same as a time-out. */
    static Duration duration() {
        return Duration.ofMillis(Long.getLong(PROPERTY, DEFAULT_MILLIS));
    }

    /** Something has come. */
    public void refresh() {
        since = System.nanoTime();
    }

    /** Whether nothing has come for too long. */
    public boolean isOver() {
        return System.nanoTime() - since > nanos;
    }

    /** How long it is. */
    public long nanos() {
        return nanos;
    }

    /** How long it is, in seconds for a sentence. */
    public long seconds() {
        return Math.max(1, nanos / 1_000_000_000);
    }
}
