package io.rdma4j.exec.verbs;

import io.rdma4j.verbs.MemoryRegion;
import org.jspecify.annotations.Nullable;

/** One registration of memory, which scatter-gather elements refer to by key and address. */
final class LocalMemory {
    private final @Nullable MemoryRegion region;
    private final int key;
    private final long address;
    private final long lengthBytes;

    /** True after deregistration. Not volatile: a request that still uses the memory completes with an error. */
    private boolean ended;

    /** Captures the current registration of a region. */
    LocalMemory(MemoryRegion region) {
        this.region = region;
        key = region.localKey();
        address = region.address();
        lengthBytes = region.lengthBytes();
    }

    private LocalMemory() {
        region = null;
        key = 0;
        address = 0;
        lengthBytes = 0;
    }

    /** Returns an object that represents no memory. */
    static LocalMemory none() {
        return new LocalMemory();
    }

    int key() {
        return key;
    }

    long address() {
        return address;
    }

    /** Returns the region, or null if this represents no memory. */
    @Nullable
    MemoryRegion region() {
        return region;
    }

    boolean isRegistered() {
        return !ended;
    }

    void end() {
        ended = true;
    }

    /** Returns whether a range lies within the memory. No address causes an overflow; the length is not negative. */
    boolean contains(long start, long length) {
        long offset = start - address;
        return offset >= 0 && length <= lengthBytes && offset <= lengthBytes - length;
    }
}
