package io.rdma4j.soft.device;

import io.rdma4j.soft.host.StackClock;
import io.rdma4j.transport.QueuePairCounters;
import java.util.concurrent.atomic.AtomicLong;

/** Warnings about what looks like an attack: at most one line a second for a whole stack. Thread safe. */
public final class AttackWarnings {
    private static final System.Logger LOGGER = System.getLogger(AttackWarnings.class.getName());
    private static final long INTERVAL_NANOS = 1_000_000_000;
    private final StackClock clock;
    private final AtomicLong nextNanos;

    AttackWarnings(StackClock clock) {
        this.clock = clock;
        nextNanos = new AtomicLong(clock.nanoTime());
    }

    /** Somebody sends many packets to a queue pair that are none of its peer's. */
    void onGuessing(SoftQueuePair queuePair, QueuePairCounters counters) {
        if (mayWarn()) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "somebody may be trying to break into %s: so far %d packets from another address, %d from another UDP port, %d with a PSN far off"
                            .formatted(
                                    queuePair, counters.badSource, counters.badSourcePort, counters.outOfWindowPsns));
        }
    }

    /** The application's access filter has failed for a request, which was refused. */
    public void onFilterFailure(Object attempt, RuntimeException failure) {
        if (mayWarn()) {
            LOGGER.log(System.Logger.Level.WARNING, "the access filter fails for " + attempt + ": refused", failure);
        }
    }

    private boolean mayWarn() {
        long nowNanos = clock.nanoTime();
        long next = nextNanos.get();
        return nowNanos - next >= 0 && nextNanos.compareAndSet(next, nowNanos + INTERVAL_NANOS);
    }
}
