package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory, as the protocol sees it: a range of addresses under one key, with rights, in a protection domain.
 *
 * <p>The addresses that a peer uses ({@link #address} and up) are the region's own and need not be those of the process.
 * Belongs to one {@link MemoryTable} and shares its threading rule.
 */
public final class MemoryRegion {
    private final MemorySegment memory;
    private final long address;
    private final int key;
    private final int access;
    private final int protectionDomain;

    /** The window that this is the range of, or null for registered memory. */
    private final @Nullable MemoryWindow window;

    /** The only queue pair whose peer may use it, or null for all of the domain. */
    private final @Nullable QueuePairMachine user;

    /**
     * Whether it was taken back. Neither volatile nor true at first, since each packet asks: a thread that drives queue pairs
     * knows at the latest when it next takes the lock that who takes a region back takes once, too.
     */
    private boolean isGone;

    /** Windows that have a range of this region; changed by the table's exclusion. */
    private volatile int boundWindows;

    MemoryRegion(MemorySegment memory, long address, int key, int access, int protectionDomain) {
        this(memory, address, key, access, protectionDomain, null, null);
    }

    /** Memory as it is seen through a window. */
    MemoryRegion(
            MemorySegment memory,
            long address,
            int key,
            int access,
            int protectionDomain,
            @Nullable MemoryWindow window,
            @Nullable QueuePairMachine user) {
        this.memory = memory;
        this.address = address;
        this.key = key;
        this.access = access;
        this.protectionDomain = protectionDomain;
        this.window = window;
        this.user = user;
    }

    /** Memory windows that have a range of this region: while there are any it must not be taken back. */
    public int boundWindows() {
        return boundWindows;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread at a time changes the table
    void changeBoundWindows(int by) {
        boundWindows += by;
    }

    /** The window that this is the range of, or null for registered memory. */
    @Nullable
    MemoryWindow window() {
        return window;
    }

    /** Whether the peer of a queue pair may use it, as far as windows are concerned. */
    boolean isFor(QueuePairMachine queuePair) {
        return user == null || user == queuePair;
    }

    @Nullable
    QueuePairMachine user() {
        return user;
    }

    /** The memory itself. */
    public MemorySegment memory() {
        return memory;
    }

    /** First address, as the peer names it. */
    public long address() {
        return address;
    }

    /** Bytes registered. */
    public long lengthBytes() {
        return memory.byteSize();
    }

    /** Local and remote key. */
    public int key() {
        return key;
    }

    /** Rights, bits of {@link AccessFlags}. */
    public int access() {
        return access;
    }

    /** Number of the protection domain. */
    public int protectionDomain() {
        return protectionDomain;
    }

    /** Whether the region is still registered. */
    public boolean isValid() {
        return !isGone;
    }

    void invalidate() {
        isGone = true;
    }

    /** Whether all rights of {@code flags} were given. */
    public boolean allows(int flags) {
        return (access & flags) == flags;
    }

    /** Whether {@code length} bytes from byte {@code offset} of the region lie in it; no argument can wrap around. */
    public boolean containsOffset(long offset, long length) {
        long size = memory.byteSize();
        return length >= 0 && offset >= 0 && length <= size && offset <= size - length;
    }

    /** Whether {@code length} bytes from the peer's address {@code start} lie in the region; addresses are unsigned. */
    public boolean containsAddress(long start, long length) {
        return containsOffset(start - address, length);
    }
}
