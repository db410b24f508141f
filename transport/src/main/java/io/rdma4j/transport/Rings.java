package io.rdma4j.transport;

/** Arithmetic of rings. */
final class Rings {
    private Rings() {}

    /** The smallest power of two that holds {@code capacity} places; at least one. */
    static int sizeFor(int capacity) {
        return capacity <= 1 ? 1 : Integer.highestOneBit(capacity - 1) << 1;
    }
}
