package io.rdma4j.soft.device;

import io.rdma4j.soft.host.StackClock;

/** Converts monotonic times of a stack's clock into times of day. Thread safe. */
final class WallClock {
    /** The interval at which the offset is measured again, because the time of day may be set. */
    private static final long MEASURE_INTERVAL_NANOS = 1_000_000_000;

    private final StackClock clock;
    private volatile long offsetNanos;
    private volatile long measuredNanos;

    WallClock(StackClock clock) {
        this.clock = clock;
        measure(clock.nanoTime());
    }

    /** Returns the time in nanoseconds since 1970 (UTC); allocates at most once a second. */
    long of(long timestampNanos) {
        long now = clock.nanoTime();
        if (now - measuredNanos >= MEASURE_INTERVAL_NANOS) {
            measure(now);
        }
        return timestampNanos + offsetNanos;
    }

    private void measure(long nowNanos) {
        offsetNanos = clock.epochNanos() - nowNanos;
        measuredNanos = nowNanos;
    }
}
