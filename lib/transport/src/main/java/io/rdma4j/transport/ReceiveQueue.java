package io.rdma4j.transport;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A ring of receive work requests in posting order, between one posting thread at a time and the thread that drives the
 * queue pair. Used like {@link SendQueue}.
 */
public final class ReceiveQueue {
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(ReceiveQueue.class, "head", long.class);
            TAIL = lookup.findVarHandle(ReceiveQueue.class, "tail", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LazyRing<ReceiveRequest> ring;
    private final int capacity;
    private final int maxScatterGather;

    @SuppressWarnings("unused") // by HEAD
    private long head;

    @SuppressWarnings("unused") // by TAIL
    private long tail;

    ReceiveQueue(int capacity, int maxScatterGather) {
        this.capacity = capacity;
        this.maxScatterGather = maxScatterGather;
        ring = new LazyRing<>(capacity);
    }

    /** Returns the maximum number of work requests that are posted and not yet completed. */
    public int capacity() {
        return capacity;
    }

    /** Returns whether no posted work request is outstanding. */
    public boolean isEmpty() {
        return (long) HEAD.getAcquire(this) == (long) TAIL.getAcquire(this);
    }

    /**
     * Returns the next free slot with an empty list, or null if the queue is full. Claiming again before
     * {@link #publish} returns the same slot.
     */
    public @Nullable ReceiveRequest claim() {
        long next = (long) TAIL.getOpaque(this);
        if (next - (long) HEAD.getAcquire(this) >= capacity) {
            return null;
        }
        ReceiveRequest slot = ring.at(next);
        if (slot == null) {
            slot = new ReceiveRequest(maxScatterGather);
            ring.put(next, slot);
        } else {
            slot.workRequestId = 0;
            slot.list.clear();
        }
        return slot;
    }

    /** Posts the claimed slot. */
    public void publish() {
        TAIL.setRelease(this, (long) TAIL.getOpaque(this) + 1);
    }

    /** Returns the oldest work request that is not completed, or null. */
    @Nullable
    ReceiveRequest peek() {
        long oldest = (long) HEAD.getOpaque(this);
        return oldest == (long) TAIL.getAcquire(this) ? null : ring.at(oldest);
    }

    /** Returns the oldest slot to the posting thread. */
    void release() {
        HEAD.setRelease(this, (long) HEAD.getOpaque(this) + 1);
    }

    /** Discards everything posted. */
    void clear() {
        HEAD.setRelease(this, (long) TAIL.getAcquire(this));
    }

    /** Returns the number of work requests posted and not yet released or taken. */
    int size() {
        return (int) ((long) TAIL.getAcquire(this) - (long) HEAD.getAcquire(this));
    }

    /**
     * Takes the oldest work request out of the queue and leaves a spare in its slot for the posting thread.
     *
     * @param spare replacement with a list of the same size, not used by the caller afterwards; null to create one on
     *     demand
     * @return the work request, now owned by the caller; or null if the queue is empty, and then the caller keeps the
     *     spare
     */
    @Nullable
    ReceiveRequest take(@Nullable ReceiveRequest spare) {
        long oldest = (long) HEAD.getOpaque(this);
        if (oldest == (long) TAIL.getAcquire(this)) {
            return null;
        }
        ReceiveRequest taken = ring.at(oldest);
        ring.put(oldest, spare);
        HEAD.setRelease(this, oldest + 1);
        return taken;
    }

    /**
     * Moves everything posted to an empty queue with sufficient capacity. No other thread may use either queue
     * meanwhile.
     */
    void moveTo(ReceiveQueue other) {
        ReceiveRequest taken = peek();
        while (taken != null) {
            long to = (long) TAIL.getOpaque(other);
            ReceiveRequest spare = other.ring.at(to);
            other.ring.put(to, taken);
            TAIL.setRelease(other, to + 1);
            var _ = take(spare);
            taken = peek();
        }
    }
}
