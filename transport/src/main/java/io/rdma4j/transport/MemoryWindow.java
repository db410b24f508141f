package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * A key of its own, with rights of its own, for a range of a memory region: given and taken back by work requests, without
 * registering memory. Belongs to one {@link MemoryTable} and shares its threading rule.
 *
 * <p>A window of type 1 is usable by all queue pairs of its domain; its range is changed by binding it again, and only so.
 * One of type 2 is usable by the queue pair alone that bound it (type 2B of the specification), is bound only while it is
 * free, and becomes free when its key is taken back: by a local invalidation, by the peer's SEND with invalidate, or when
 * the queue pair is reset.
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

    /** Whether it is of type 2; else of type 1. */
    public boolean isTypeTwo() {
        return typeTwo;
    }

    /** Number of the protection domain. */
    public int protectionDomain() {
        return protectionDomain;
    }

    /** Key now: the upper 24 bits are the window's for ever, the lower 8 change with each binding. */
    public int key() {
        return key;
    }

    /** Whether it has a range that peers can use. */
    public boolean isBound() {
        return range != null;
    }

    boolean isValid() {
        return valid;
    }

    void close() {
        valid = false;
    }

    /** The range as peers see it, or null. */
    @Nullable
    MemoryRegion range() {
        return range;
    }

    /** The region that the range is of, or null. */
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
