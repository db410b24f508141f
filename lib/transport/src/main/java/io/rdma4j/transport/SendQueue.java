package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A ring of send work requests in posting order, between one posting thread at a time and the thread that drives the
 * queue pair.
 *
 * <p>To post a request, {@link #claim} a slot, fill it and {@link #publish} it. A slot is in use from {@link #publish}
 * until its work request is completed, whether the completion is reported or not.
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

    /** Returns the maximum number of work requests that are posted and not yet completed. */
    public int capacity() {
        return capacity;
    }

    /** Returns whether no posted work request is outstanding. */
    public boolean isEmpty() {
        return (long) HEAD.getAcquire(this) == (long) TAIL.getAcquire(this);
    }

    /**
     * Returns the next free slot with all fields reset (except inline bytes), or null if the queue is full. Claiming
     * again before {@link #publish} returns the same slot.
     */
    public @Nullable SendRequest claim() {
        return claim(0);
    }

    /**
     * Returns a slot like {@link #claim()}, for a request that is published together with {@code before} earlier ones.
     */
    public @Nullable SendRequest claim(int before) {
        long next = (long) TAIL.getOpaque(this) + before;
        if (next - (long) HEAD.getAcquire(this) >= capacity) {
            return null;
        }
        SendRequest slot = ring.at(next);
        if (slot == null) {
            slot = new SendRequest(maxScatterGather, MemorySegment.ofArray(new byte[maxInlineBytes]));
            ring.put(next, slot);
        } else {
            slot.clear();
        }
        return slot;
    }

    /** Posts the claimed slot. */
    public void publish() {
        publish(1);
    }

    /** Posts the claimed slots. */
    public void publish(int count) {
        TAIL.setRelease(this, (long) TAIL.getOpaque(this) + count);
    }

    /** Returns the index of the oldest work request that is not completed. */
    long head() {
        return (long) HEAD.getOpaque(this);
    }

    /** Returns the index after the newest work request. */
    long tail() {
        return (long) TAIL.getAcquire(this);
    }

    /** Returns the work request with an index from {@link #head} (inclusive) to {@link #tail} (exclusive). */
    SendRequest at(long index) {
        return Objects.requireNonNull(ring.at(index));
    }

    /** Returns the oldest slot to the posting thread. */
    void release() {
        HEAD.setRelease(this, (long) HEAD.getOpaque(this) + 1);
    }

    /** Discards everything posted. */
    void clear() {
        HEAD.setRelease(this, (long) TAIL.getAcquire(this));
    }
}
