package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * A separate key with separate rights for a range of a memory region. Work requests bind and invalidate it without
 * registering memory (decision 011). Belongs to one {@link MemoryTable} and shares its threading rule.
 *
 * <p>A window of type 1 is usable by all queue pairs of its domain, and its range changes only by binding it again. A
 * window of type 2 is usable only by the queue pair that bound it (type 2B of the specification) and can only be bound
 * while it is free. It becomes free when its key is invalidated: by a local invalidation, by the peer's SEND with
 * invalidate, or when the queue pair is reset.
 *
 * <p>Source: InfiniBand Architecture volume 1, 10.6.7.
 */
public final class MemoryWindow {
    private final boolean typeTwo;
    private final int protectionDomain;
    private volatile int key;
    private boolean valid = true;
    private @Nullable MemoryRegion range;
    private @Nullable MemoryRegion region;

    MemoryWindow(boolean typeTwo, int key, int protectionDomain) {
        this.typeTwo = typeTwo;
        this.key = key;
        this.protectionDomain = protectionDomain;
    }

    /** Returns {@code true} for type 2, {@code false} for type 1. */
    public boolean isTypeTwo() {
        return typeTwo;
    }

    /** Returns the number of the protection domain. */
    public int protectionDomain() {
        return protectionDomain;
    }

    /** Returns the current key. The upper 24 bits are fixed; the lower 8 change with each binding. */
    public int key() {
        return key;
    }

    /** Returns whether the window is bound to a range. */
    public boolean isBound() {
        return range != null;
    }

    boolean isValid() {
        return valid;
    }

    void close() {
        valid = false;
    }

    /** Returns the range as peers see it, or null. */
    @Nullable
    MemoryRegion range() {
        return range;
    }

    /** Returns the region that contains the range, or null. */
    @Nullable
    MemoryRegion region() {
        return region;
    }

    void set(int newKey, @Nullable MemoryRegion newRange, @Nullable MemoryRegion newRegion) {
        key = newKey;
        range = newRange;
        region = newRegion;
    }
}
