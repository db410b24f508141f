package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * A ring of objects that are used again and again, each made by its user when its place is used first: most connections
 * never use all of their places, and many use none, so that these have no ring either.
 *
 * <p>Not thread safe by itself. Who puts an object here tells others of it in a way that they see all of it.
 */
final class LazyRing<T> {
    private static final @Nullable Object[] NONE = {};

    private final int mask;
    private @Nullable Object[] ring = NONE;

    /** @param capacity number of places, rounded up to a power of two; at least one is there */
    LazyRing(int capacity) {
        mask = capacity <= 1 ? 0 : (Integer.highestOneBit(capacity - 1) << 1) - 1;
    }

    /** Number of places. */
    int count() {
        return mask + 1;
    }

    /** What is in the place of a number, which it shares with all that are {@link #count} apart; null for nothing yet. */
    @SuppressWarnings("unchecked") // what put has put there
    @Nullable
    T at(long number) {
        @Nullable Object[] made = ring;
        int index = (int) number & mask;
        return index < made.length ? (T) made[index] : null;
    }

    /** Puts something, or nothing, in the place of a number. */
    void put(long number, @Nullable T object) {
        if (ring.length == 0) {
            ring = new @Nullable Object[mask + 1];
        }
        ring[(int) number & mask] = object;
    }
}
