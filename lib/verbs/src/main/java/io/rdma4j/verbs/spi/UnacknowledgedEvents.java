package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the events of a completion queue that were taken and not acknowledged. Thread safe. */
public final class UnacknowledgedEvents {
    /** The C name of the call that acknowledges events. */
    public static final String OPERATION = "ibv_ack_cq_events";

    private final AtomicInteger count = new AtomicInteger();

    /** Creates a counter at zero. */
    public UnacknowledgedEvents() {}

    /** Notes that an event was taken. */
    public void add() {
        count.incrementAndGet();
    }

    /** Returns the number of unacknowledged events. */
    public int count() {
        return count.get();
    }

    /**
     * Acknowledges events.
     *
     * @throws RdmaException {@code EINVAL} for a negative number, or for more events than were taken; nothing changes then
     */
    public void acknowledge(int acknowledged) {
        int before;
        // Allocates nothing: an event that cannot be acknowledged for want of memory would keep its queue from being
        // closed.
        do {
            before = count.get();
            if (acknowledged < 0 || acknowledged > before) {
                throw new RdmaException(
                        OPERATION,
                        Errno.EINVAL,
                        acknowledged + " events cannot be acknowledged: " + before + " were taken and not acknowledged",
                        "Acknowledge each event taken from the channel once");
            }
        } while (!count.compareAndSet(before, before - acknowledged));
    }
}
