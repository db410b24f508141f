package io.rdma4j.transport;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Receive work requests in the order they were posted: a ring between one posting thread at a time and the thread that
 * drives the queue pair. Used like {@link SendQueue}.
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

    /** Work requests that can be posted and not yet completed. */
    public int capacity() {
        return capacity;
    }

    /** Whether nothing is posted that is not completed. */
    public boolean isEmpty() {
        return (long) HEAD.getAcquire(this) == (long) TAIL.getAcquire(this);
    }

    /**
     * The next free place with an empty list, or null while the queue is full. Claiming again before {@link #publish}
     * gives the same place.
     */
    public @Nullable ReceiveRequest claim() {
        long next = (long) TAIL.getOpaque(this);
        if (next - (long) HEAD.getAcquire(this) >= capacity) {
            return null;
        }
        ReceiveRequest place = ring.at(next);
        if (place == null) {
            place = new ReceiveRequest(maxScatterGather);
            ring.put(next, place);
        } else {
            place.workRequestId = 0;
            place.list.clear();
        }
        return place;
    }

    /** Posts the claimed place. */
    public void publish() {
        TAIL.setRelease(this, (long) TAIL.getOpaque(this) + 1);
    }

    /** The oldest work request that is not completed, or null. */
    @Nullable
    ReceiveRequest peek() {
        long oldest = (long) HEAD.getOpaque(this);
        return oldest == (long) TAIL.getAcquire(this) ? null : ring.at(oldest);
    }

    /** Gives the oldest place back to the posting thread. */
    void release() {
        HEAD.setRelease(this, (long) HEAD.getOpaque(this) + 1);
    }

    /** Forgets everything posted. */
    void clear() {
        HEAD.setRelease(this, (long) TAIL.getAcquire(this));
    }

    /** Number of work requests posted and not yet released or taken. */
    int size() {
        return (int) ((long) TAIL.getAcquire(this) - (long) HEAD.getAcquire(this));
    }

    /**
     * Takes the oldest work request out of the queue and leaves another object in its place, which is so given back to
     * the posting thread.
     *
     * @param spare with as long a list, of no use to anybody else from now on; null to have one made when it is needed
     * @return the work request, the caller's from now on, or null if there is none: then the spare stays the caller's
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

    /** Moves everything posted to an empty queue with room for it; nobody else uses either meanwhile. */
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
