package io.rdma4j.transport;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A scatter/gather list: pieces of registered memory. */
public final class ScatterGather {
    /** Region of each piece. */
    public final @Nullable MemoryRegion[] regions;

    /** Offset of each piece in its region, in bytes. */
    public final long[] offsets;

    /** Length of each piece, in bytes. */
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

    /** Returns the total length of all pieces, in bytes. */
    public long totalBytes() {
        long total = 0;
        for (int i = 0; i < count; i++) {
            total += lengths[i];
        }
        return total;
    }
}
