package io.rdma4j.soft.device;

import io.rdma4j.transport.QueuePairCounters;
import java.util.concurrent.atomic.AtomicLong;

/** Warnings about what looks like an attack: at most one line a second for the whole process. Thread safe. */
public final class AttackWarnings {
    private static final System.Logger LOGGER = System.getLogger(AttackWarnings.class.getName());
    private static final long INTERVAL_NANOS = 1_000_000_000;
    private static final AtomicLong NEXT = new AtomicLong(System.nanoTime());

    private AttackWarnings() {}

    /** Somebody sends many packets to a queue pair that are none of its peer's. */
    static void onGuessing(SoftQueuePair queuePair, QueuePairCounters counters) {
        if (mayWarn()) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "somebody may be trying to break into %s: so far %d packets from another address, %d from another UDP port, %d with a PSN far off"
                            .formatted(
                                    queuePair, counters.badSource, counters.badSourcePort, counters.outOfWindowPsns));
        }
    }

    /** The application's access filter has failed for a request, which was refused. */
    public static void onFilterFailure(Object attempt, RuntimeException failure) {
        if (mayWarn()) {
            LOGGER.log(System.Logger.Level.WARNING, "the access filter fails for " + attempt + ": refused", failure);
        }
    }

    private static boolean mayWarn() {
        long nowNanos = System.nanoTime();
        long next = NEXT.get();
        return nowNanos - next >= 0 && NEXT.compareAndSet(next, nowNanos + INTERVAL_NANOS);
    }
}
