package io.rdma4j.soft.device;

import io.rdma4j.transport.QueuePairCounters;
import java.util.HashSet;
import java.util.Set;

/**
 * The sums of a device's counters over its open and closed queue pairs. Thread safe.
 *
 * <p>Threads that hold an engine's lock add and close queue pairs. Adding up the counters of thousands of queue pairs therefore
 * happens outside the lock of this object.
 */
final class DeviceCounters {
    private final Set<QueuePairCounters> open = new HashSet<>();
    private final QueuePairCounters closed = new QueuePairCounters();

    /** Includes the counters of a new queue pair. */
    synchronized void add(QueuePairCounters counters) {
        open.add(counters);
    }

    /** Keeps the counts of a queue pair that is being closed. A second call has no effect. */
    synchronized void close(QueuePairCounters counters) {
        if (open.remove(counters)) {
            closed.add(counters);
        }
    }

    /** Returns the current sums. Each queue pair is included once, even if it is closed meanwhile. */
    QueuePairCounters sums() {
        QueuePairCounters sums = new QueuePairCounters();
        for (QueuePairCounters each : addClosedAndCopyOpen(sums)) {
            sums.add(each);
        }
        return sums;
    }

    private synchronized QueuePairCounters[] addClosedAndCopyOpen(QueuePairCounters sums) {
        sums.add(closed);
        return open.toArray(QueuePairCounters[]::new);
    }
}
