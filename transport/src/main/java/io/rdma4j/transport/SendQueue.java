package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Send work requests in the order they were posted: a ring between one posting thread at a time and the thread that
 * drives the queue pair.
 *
 * <p>To post: {@link #claim} a place, fill it, {@link #publish} it. A place is taken from {@link #publish} until its work
 * request is completed, reported or not.
 */
public final class SendQueue {
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(SendQueue.class, "head", long.class);
            TAIL = lookup.findVarHandle(SendQueue.class, "tail", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LazyRing<SendRequest> ring;
    private final int capacity;
    private final int maxScatterGather;
    private final int maxInlineBytes;

    @SuppressWarnings("unused") // by HEAD
    private long head;

    @SuppressWarnings("unused") // by TAIL
    private long tail;

    SendQueue(int capacity, int maxScatterGather, int maxInlineBytes) {
        this.capacity = capacity;
        this.maxScatterGather = maxScatterGather;
        this.maxInlineBytes = maxInlineBytes;
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
     * The next free place, with all fields as in a new one (inline bytes excepted), or null while the queue is full.
     * Claiming again before {@link #publish} gives the same place.
     */
    public @Nullable SendRequest claim() {
        long next = (long) TAIL.getOpaque(this);
        if (next - (long) HEAD.getAcquire(this) >= capacity) {
            return null;
        }
        SendRequest place = ring.at(next);
        if (place == null) {
            place = new SendRequest(maxScatterGather, MemorySegment.ofArray(new byte[maxInlineBytes]));
            ring.put(next, place);
        } else {
            place.clear();
        }
        return place;
    }

    /** Posts the claimed place. */
    public void publish() {
        TAIL.setRelease(this, (long) TAIL.getOpaque(this) + 1);
    }

    /** Index of the oldest work request that is not completed. */
    long head() {
        return (long) HEAD.getOpaque(this);
    }

    /** Index behind the newest work request. */
    long tail() {
        return (long) TAIL.getAcquire(this);
    }

    /** The work request with an index from {@link #head} to before {@link #tail}. */
    SendRequest at(long index) {
        return Objects.requireNonNull(ring.at(index));
    }

    /** Gives the oldest place back to the posting thread. */
    void release() {
        HEAD.setRelease(this, (long) HEAD.getOpaque(this) + 1);
    }

    /** Forgets everything posted. */
    void clear() {
        HEAD.setRelease(this, (long) TAIL.getAcquire(this));
    }
}
