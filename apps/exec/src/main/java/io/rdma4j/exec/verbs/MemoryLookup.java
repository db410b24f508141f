package io.rdma4j.exec.verbs;

import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.ScatterGather;
import org.jspecify.annotations.Nullable;

/**
 * Finds the memory of scatter-gather elements in a protection domain. Caches the last result, because most requests of
 * a queue use the same memory. Not thread safe.
 */
final class MemoryLookup {
    private static final long UNSIGNED = 0xffff_ffffL;

    private final Domain domain;
    private @Nullable LocalMemory last;

    MemoryLookup(Domain domain) {
        this.domain = domain;
    }

    /**
     * Adds an array of {@code struct ibv_sge} to a list. If an element is not within registered memory of the domain,
     * the request completes with a protection error. Elements of zero bytes need no memory.
     */
    void addAll(ScatterGatherList list, long elements, int count) {
        for (int i = 0; i < count; i++) {
            long at = elements + (long) i * ScatterGather.BYTES;
            long length = Native.intAt(at + ScatterGather.LENGTH) & UNSIGNED;
            if (length > 0) {
                add(
                        list,
                        Native.longAt(at + ScatterGather.ADDRESS),
                        length,
                        Native.intAt(at + ScatterGather.LOCAL_KEY));
            }
        }
    }

    private void add(ScatterGatherList list, long address, long length, int key) {
        LocalMemory memory = find(key);
        MemoryRegion region = memory == null ? null : memory.region();
        if (memory == null || region == null || !memory.contains(address, length)) {
            list.add(domain.closedRegion(), 0, length);
            return;
        }
        try {
            list.add(region, address - memory.address(), length);
        } catch (IndexOutOfBoundsException changed) { // the region was re-registered meanwhile
            list.add(domain.closedRegion(), 0, length);
        }
    }

    private @Nullable LocalMemory find(int key) {
        LocalMemory memory = last;
        if (memory == null || memory.key() != key || !memory.isRegistered()) {
            memory = domain.keys().find(key);
            last = memory;
        }
        return memory;
    }
}
