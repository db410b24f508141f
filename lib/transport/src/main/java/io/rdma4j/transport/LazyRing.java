package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * A ring of reusable objects, each created by the caller when its slot is first used. Most connections never use all of
 * their slots. Many use none and then have no ring either.
 *
 * <p>Not thread safe. A thread that stores an object must publish it safely to the threads that read it.
 */
final class LazyRing<T> {
    private static final @Nullable Object[] EMPTY = {};

    private final int mask;
    private @Nullable Object[] ring = EMPTY;

    /** @param capacity number of slots, rounded up to a power of two and at least 1 */
    LazyRing(int capacity) {
        mask = capacity <= 1 ? 0 : (Integer.highestOneBit(capacity - 1) << 1) - 1;
    }

    /** Returns the number of slots. */
    int count() {
        return mask + 1;
    }

    /**
     * Returns the object in the slot of an index, or null if it is empty. Indices that are {@link #count} apart share a
     * slot.
     */
    @SuppressWarnings("unchecked") // only put stores objects
    @Nullable
    T at(long index) {
        @Nullable Object[] slots = ring;
        int slot = (int) index & mask;
        return slot < slots.length ? (T) slots[slot] : null;
    }

    /** Stores an object, or null, in the slot of an index. */
    void put(long index, @Nullable T object) {
        if (ring.length == 0) {
            ring = new @Nullable Object[mask + 1];
        }
        ring[(int) index & mask] = object;
    }
}
