package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.exec.bridge.ProgramMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.ScatterGather;
import java.lang.foreign.Arena;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Copies inline data to registered memory, because C programs need not register its memory. Posting copies it again, so
 * the registered memory can be reused after each burst. Guarded by the lock of a queue.
 */
final class InlineData implements AutoCloseable {
    private static final int MIN_BYTES = 4096;
    private static final long UNSIGNED = 0xffff_ffffL;

    private final Domain domain;
    private final int maxInlineBytes;

    /** The memory for the data of a burst; null before the first inline data. */
    private @Nullable MemoryRegion region;

    private long used;

    /**
     * Creates an empty store.
     *
     * @param maxInlineBytes the maximum length of the inline data of one request
     */
    InlineData(Domain domain, int maxInlineBytes) {
        this.domain = domain;
        this.maxInlineBytes = maxInlineBytes;
    }

    /** Discards all data. */
    void clear() {
        used = 0;
    }

    /** Discards all data, and makes the memory large enough for the {@linkplain #roomFor data} of several requests. */
    void clear(long bytes) {
        used = 0;
        if (bytes > region().lengthBytes()) {
            close();
            region = allocate(bytes);
        }
    }

    /** Returns the total length of an array of {@code struct ibv_sge}; 0 if the queue pair does not allow it. */
    long roomFor(long elements, int count) {
        long total = totalBytes(elements, count);
        return total > maxInlineBytes ? 0 : total;
    }

    /**
     * Adds the data of an array of {@code struct ibv_sge} to a request.
     *
     * @return false if it does not fit into the rest of the memory; it fits after {@link #clear}
     * @throws RdmaException {@code EINVAL} if it is longer than the queue pair allows, {@code EFAULT} if its memory
     *     cannot be accessed
     */
    boolean add(SendWorkRequest request, long elements, int count) {
        long total = totalBytes(elements, count);
        if (total > maxInlineBytes) {
            throw Failures.invalid(
                    "ibv_post_send", total + " inline bytes, but the queue pair allows " + maxInlineBytes);
        }
        MemoryRegion target = region();
        if (total > target.lengthBytes() - used) {
            return false;
        }
        long start = used;
        for (int i = 0; i < count; i++) {
            long at = elements + (long) i * ScatterGather.BYTES;
            long length = length(at);
            long from = Native.longAt(at + ScatterGather.ADDRESS);
            if (!ProgramMemory.copyBytes(from, target.memory().address() + used, length)) {
                throw new RdmaException(
                        "ibv_post_send", Errno.EFAULT, "inline data at 0x" + Long.toHexString(from), "");
            }
            used += length;
        }
        request.from(target, start, total);
        return true;
    }

    private static long totalBytes(long elements, int count) {
        long total = 0;
        for (int i = 0; i < count; i++) {
            total += length(elements + (long) i * ScatterGather.BYTES);
        }
        return total;
    }

    private static long length(long element) {
        return Native.intAt(element + ScatterGather.LENGTH) & UNSIGNED;
    }

    private MemoryRegion region() {
        MemoryRegion memory = region;
        if (memory == null) {
            memory = allocate(Math.max(maxInlineBytes, MIN_BYTES));
            region = memory;
        }
        return memory;
    }

    private MemoryRegion allocate(long bytes) {
        return domain.domain().register(Arena.ofAuto().allocate(bytes, Long.BYTES), Set.of());
    }

    @Override
    public void close() {
        MemoryRegion memory = region;
        if (memory != null) {
            memory.close();
            region = null;
        }
    }
}
