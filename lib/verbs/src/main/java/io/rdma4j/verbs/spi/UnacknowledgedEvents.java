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

    /** Records that an event was taken. */
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
     * @throws RdmaException {@code EINVAL} if the number is negative, or exceeds the number of unacknowledged events;
     *     the count is then unchanged
     */
    public void acknowledge(int acknowledged) {
        int before;
        // Allocates nothing: if acknowledging an event failed for lack of memory, its queue could not be closed.
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
