package io.rdma4j.soft.device;

import io.rdma4j.soft.host.StackClock;
import java.time.Duration;

/** Deadlines of calls with a timeout. */
public final class Deadlines {
    private static final long UNLIMITED_SECONDS = 100L * 365 * 86400;

    private Deadlines() {}

    /** Returns the time of {@code clock} after {@code timeout}, or {@link Long#MAX_VALUE} if that is a century or more. */
    public static long after(StackClock clock, Duration timeout) {
        return timeout.toSeconds() >= UNLIMITED_SECONDS ? Long.MAX_VALUE : clock.nanoTime() + timeout.toNanos();
    }
}
