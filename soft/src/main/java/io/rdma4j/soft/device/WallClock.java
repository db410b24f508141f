package io.rdma4j.soft.device;

import java.time.Instant;

/** Turns times of the device's clock, {@link System#nanoTime}, into times of the system's clock. Thread safe. */
final class WallClock {
    /** The system's clock may be set meanwhile: how often is looked. */
    private static final long LOOK_NANOS = 1_000_000_000;

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private volatile long offsetNanos;
    private volatile long lookedNanos;

    WallClock() {
        look(System.nanoTime());
    }

    /** Nanoseconds since 1970; allocates at most once a second. */
    long of(long timestampNanos) {
        long now = System.nanoTime();
        if (now - lookedNanos >= LOOK_NANOS) {
            look(now);
        }
        return timestampNanos + offsetNanos;
    }

    private void look(long nowNanos) {
        Instant instant = Instant.now();
        offsetNanos = instant.getEpochSecond() * NANOS_PER_SECOND + instant.getNano() - nowNanos;
        lookedNanos = nowNanos;
    }
}
