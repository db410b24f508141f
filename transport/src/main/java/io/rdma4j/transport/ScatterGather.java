package io.rdma4j.transport;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A list of pieces of registered memory. */
public final class ScatterGather {
    /** Regions of the pieces. */
    public final @Nullable MemoryRegion[] regions;

    /** Where each piece begins in its region, in bytes. */
    public final long[] offsets;

    /** Bytes of each piece. */
    public final long[] lengths;

    /** Number of pieces in use. */
    public int count;

    ScatterGather(int max) {
        regions = new @Nullable MemoryRegion[max];
        offsets = new long[max];
        lengths = new long[max];
    }

    /** Empties the list. */
    public void clear() {
        Arrays.fill(regions, 0, count, null);
        count = 0;
    }

    /** Adds a piece. */
    public void add(MemoryRegion region, long offset, long length) {
        regions[count] = region;
        offsets[count] = offset;
        lengths[count] = length;
        count++;
    }

    /** Bytes of all pieces. */
    public long totalBytes() {
        long total = 0;
        for (int i = 0; i < count; i++) {
            total += lengths[i];
        }
        return total;
    }
}
