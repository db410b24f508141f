package io.rdma4j.transport;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Receives shared by several queue pairs: a queue pair that gets a message takes the oldest one. Posting works as for a
 * {@link ReceiveQueue}, by one thread at a time; all other methods belong to the thread that drives the queue pairs. If
 * several threads drive them, a subclass serialises {@link #take}, {@link #release}, {@link #limit} and
 * {@link #resize}.
 *
 * <p>A queue pair takes a receive with the first packet of a SEND or the last packet of a WRITE with immediate data;
 * the slot is immediately free again. If the queue is empty, a reliable connection sends an RNR NAK, as with a separate
 * queue.
 *
 * <p>Source: InfiniBand Architecture volume 1, 10.2.9 and 11.2.
 */
public class SharedReceiveQueue {
    private final int maxScatterGather;
    private final int protectionDomain;
    private final Runnable onLimit;
    private final int number;
    private final @Nullable CompletionSink completions;

    /** Work requests that replace taken ones in the ring. */
    private ReceiveRequest[] spares = new ReceiveRequest[4];

    private int spareCount;
    private volatile boolean closed;

    /** Replaced when the capacity changes, while no other thread uses the queue. */
    private volatile ReceiveQueue queue;

    private volatile int limit;

    /**
     * Creates an empty queue.
     *
     * @param capacity maximum number of posted receives
     * @param maxScatterGather maximum number of pieces of one receive
     * @param protectionDomain protection domain of the receives' memory; may differ from those of the queue pairs
     * @param onLimit called by the driving thread when fewer than {@link #limit} receives are left
     */
    public SharedReceiveQueue(int capacity, int maxScatterGather, int protectionDomain, Runnable onLimit) {
        this(capacity, maxScatterGather, protectionDomain, onLimit, 0, null);
    }

    /**
     * Creates an empty queue for extended connections, which address it by number and report to its sink.
     *
     * @param capacity maximum number of posted receives
     * @param maxScatterGather maximum number of pieces of one receive
     * @param protectionDomain protection domain of the receives' memory, and of all memory that the peers access
     * @param onLimit called by the driving thread when fewer than {@link #limit} receives are left
     * @param number number of the queue, 24 bits
     * @param completions sink for completions of receives; null for the sink of the queue pair that got the message
     */
    public SharedReceiveQueue(
            int capacity,
            int maxScatterGather,
            int protectionDomain,
            Runnable onLimit,
            int number,
            @Nullable CompletionSink completions) {
        this.maxScatterGather = maxScatterGather;
        this.protectionDomain = protectionDomain;
        this.onLimit = onLimit;
        this.number = number;
        this.completions = completions;
        queue = new ReceiveQueue(capacity, maxScatterGather);
    }

    /** Returns the number by which peers of extended connections address the queue; 0 if they cannot. */
    public int number() {
        return number;
    }

    /** Returns the sink for completions of receives; null for the sink of the queue pair that got the message. */
    @Nullable
    CompletionSink completions() {
        return completions;
    }

    /** Closes the queue: queue pairs can no longer take receives. */
    public void close() {
        closed = true;
    }

    boolean isClosed() {
        return closed;
    }

    /** Returns the maximum number of receives that are posted and not yet taken. */
    public int capacity() {
        return queue.capacity();
    }

    /** Returns the maximum number of pieces of one receive. */
    public int maxScatterGather() {
        return maxScatterGather;
    }

    /** Returns the protection domain of the receives' memory. */
    public int protectionDomain() {
        return protectionDomain;
    }

    /** Returns the number of receives posted and not yet taken. */
    public int size() {
        return queue.size();
    }

    /** Returns the next free slot, or null if the queue is full; see {@link ReceiveQueue#claim}. */
    public @Nullable ReceiveRequest claim() {
        return queue.claim();
    }

    /** Posts the claimed slot. */
    public void publish() {
        queue.publish();
    }

    /** Returns the number of remaining receives below which an event is reported once; 0 if disabled. */
    public int limit() {
        return limit;
    }

    /**
     * Requests one report when a message arrives and fewer than {@code receives} are left. 0 cancels the request.
     *
     * @param receives 0 to {@link #capacity}
     */
    public void limit(int receives) {
        limit = receives;
    }

    /**
     * Changes the capacity. No thread may post and no queue pair may be driven meanwhile.
     *
     * @param capacity new number of slots
     * @return {@code false} if the posted receives do not fit
     */
    public boolean resize(int capacity) {
        if (queue.size() > capacity) {
            return false;
        }
        ReceiveQueue resized = new ReceiveQueue(capacity, maxScatterGather);
        queue.moveTo(resized);
        queue = resized;
        return true;
    }

    /** Takes the oldest receive; returns null if there is none. */
    protected @Nullable ReceiveRequest take() {
        ReceiveRequest spare = spareCount == 0 ? new ReceiveRequest(maxScatterGather) : spares[--spareCount];
        ReceiveRequest taken = queue.take(spare);
        if (taken == null) {
            addSpare(spare);
        }
        // Checked even if the queue was empty: a thread that posts only when notified would otherwise wait
        // indefinitely.
        if (limit != 0 && queue.size() < limit) {
            limit = 0;
            onLimit.run();
        }
        return taken;
    }

    /** Returns a taken receive after its completion. */
    protected void release(ReceiveRequest completed) {
        addSpare(completed);
    }

    private void addSpare(ReceiveRequest completed) {
        if (spareCount == spares.length) {
            spares = Arrays.copyOf(spares, 2 * spareCount);
        }
        spares[spareCount++] = completed;
    }
}
