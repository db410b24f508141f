package io.rdma4j.transport;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Receives that several queue pairs share: whichever gets a message takes the oldest one. Posted to like a
 * {@link ReceiveQueue}, by one thread at a time; everything else belongs to the thread that drives the queue pairs. Where
 * several threads do, a subclass lets one at a time {@link #take}, {@link #giveBack}, {@link #limit} and {@link #resize}.
 *
 * <p>A queue pair takes a receive when it needs one, with the first packet of a SEND or the last of a WRITE with immediate
 * data, and its place is free again at once. When there is none, a reliable connection's peer is asked to wait, as with a
 * queue of its own.
 *
 * <p>Source: InfiniBand Architecture volume 1, 10.2.9 and 11.2.
 */
public class SharedReceiveQueue {
    private final int maxScatterGather;
    private final int protectionDomain;
    private final Runnable onLimit;
    private final int number;
    private final @Nullable CompletionSink completions;

    /** Work requests to be left in the ring for those that are taken. */
    private ReceiveRequest[] spares = new ReceiveRequest[4];

    private int spareCount;
    private volatile boolean closed;

    /** Replaced when the size changes; who does so keeps everybody else away. */
    private volatile ReceiveQueue queue;

    private volatile int limit;

    /**
     * Creates an empty queue.
     *
     * @param capacity receives posted at most
     * @param maxScatterGather pieces of one receive
     * @param protectionDomain number of the domain of the receives' memory; those of the queue pairs may be others
     * @param onLimit called by the driving thread when fewer receives than {@link #limit} are left
     */
    public SharedReceiveQueue(int capacity, int maxScatterGather, int protectionDomain, Runnable onLimit) {
        this(capacity, maxScatterGather, protectionDomain, onLimit, 0, null);
    }

    /**
     * Creates an empty queue for extended connections, which name it by its number and report where it says.
     *
     * @param capacity receives posted at most
     * @param maxScatterGather pieces of one receive
     * @param protectionDomain number of the domain of the receives' memory, and of all that the peers reach
     * @param onLimit called by the driving thread when fewer receives than {@link #limit} are left
     * @param number number, 24 bits
     * @param completions where receives are reported; null for the queue pair that got the message
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

    /** Number by which the peers of extended connections name it; 0 if they cannot. */
    public int number() {
        return number;
    }

    /** Where receives are reported; null for the queue pair that got the message. */
    @Nullable
    CompletionSink completions() {
        return completions;
    }

    /** Lets nobody take anything any more. */
    public void close() {
        closed = true;
    }

    boolean isClosed() {
        return closed;
    }

    /** Receives that can be posted and not yet taken. */
    public int capacity() {
        return queue.capacity();
    }

    /** Pieces of one receive at most. */
    public int maxScatterGather() {
        return maxScatterGather;
    }

    /** Number of the domain of the receives' memory. */
    public int protectionDomain() {
        return protectionDomain;
    }

    /** Receives posted and not yet taken. */
    public int size() {
        return queue.size();
    }

    /** The next free place, or null while the queue is full; see {@link ReceiveQueue#claim}. */
    public @Nullable ReceiveRequest claim() {
        return queue.claim();
    }

    /** Posts the claimed place. */
    public void publish() {
        queue.publish();
    }

    /** The number that fewer receives than are reported, once; 0 when nothing is to be reported. */
    public int limit() {
        return limit;
    }

    /**
     * Has it reported, once, when a message comes and fewer than {@code receives} are left then; 0 takes that back.
     *
     * @param receives 0 to {@link #capacity}
     */
    public void limit(int receives) {
        limit = receives;
    }

    /**
     * Changes the capacity; nobody posts and no queue pair is driven meanwhile.
     *
     * @param capacity new number of places
     * @return whether that was possible: what is posted must fit
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

    /** Takes the oldest receive; null if there is none. */
    protected @Nullable ReceiveRequest take() {
        ReceiveRequest spare = spareCount == 0 ? new ReceiveRequest(maxScatterGather) : spares[--spareCount];
        ReceiveRequest taken = queue.take(spare);
        if (taken == null) {
            keep(spare);
        }
        // Also when nothing was there: whoever posts only when told would otherwise wait for ever.
        if (limit != 0 && queue.size() < limit) {
            limit = 0;
            onLimit.run();
        }
        return taken;
    }

    /** Takes back what was taken, when it is completed. */
    protected void giveBack(ReceiveRequest done) {
        keep(done);
    }

    private void keep(ReceiveRequest done) {
        if (spareCount == spares.length) {
            spares = Arrays.copyOf(spares, 2 * spareCount);
        }
        spares[spareCount++] = done;
    }
}
