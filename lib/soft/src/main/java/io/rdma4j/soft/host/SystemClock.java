package io.rdma4j.soft.host;

import java.time.Instant;

/** The clock of the system. Stateless. */
final class SystemClock implements StackClock {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public long epochNanos() {
        Instant now = Instant.now();
        return now.getEpochSecond() * NANOS_PER_SECOND + now.getNano();
    }
}
