package io.rdma4j.soft.device;

import java.time.Duration;

/** Times to give up at. */
public final class Deadlines {
    private static final long FOREVER_SECONDS = 100L * 365 * 86400;

    private Deadlines() {}

    /** Time of {@link System#nanoTime} after {@code timeout}, or {@link Long#MAX_VALUE} for one of a century and more. */
    public static long after(Duration timeout) {
        return timeout.toSeconds() >= FOREVER_SECONDS ? Long.MAX_VALUE : System.nanoTime() + timeout.toNanos();
    }
}
