package io.rdma4j.soft.device;

import io.rdma4j.soft.host.StackClock;
import io.rdma4j.transport.QueuePairCounters;
import io.rdma4j.verbs.spi.SharedThread;
import java.util.concurrent.atomic.AtomicLong;

/** Logs warnings about possible attacks: at most one line a second for a whole stack. Thread safe. */
public final class AttackWarnings {
    private static final System.Logger LOGGER = System.getLogger(AttackWarnings.class.getName());
    private static final long INTERVAL_NANOS = 1_000_000_000;
    private final StackClock clock;
    private final AtomicLong nextNanos;

    AttackWarnings(StackClock clock) {
        this.clock = clock;
        nextNanos = new AtomicLong(clock.nanoTime());
    }

    /** Warns that a queue pair receives many packets that are not from its peer. */
    void onSpoofingSuspected(SoftQueuePair queuePair, QueuePairCounters counters) {
        if (mayWarn()) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "possible attack on %s: so far %d packets from another address, %d from another UDP port, %d with a PSN far off"
                            .formatted(
                                    queuePair, counters.badSource, counters.badSourcePort, counters.outOfWindowPsns));
        }
    }

    /** Warns that the application's access filter failed for a request, which was rejected. */
    public void onFilterFailure(Object attempt, Throwable failure) {
        if (mayWarn()) {
            SharedThread.report(
                    AttackWarnings.class, "the access filter failed for " + attempt + ": rejected", failure);
        }
    }

    private boolean mayWarn() {
        long nowNanos = clock.nanoTime();
        long next = nextNanos.get();
        return nowNanos - next >= 0 && nextNanos.compareAndSet(next, nowNanos + INTERVAL_NANOS);
    }
}
