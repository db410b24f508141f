package io.rdma4j.transport;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A scatter/gather list: pieces of registered memory. Its arrays are allocated for the first piece, since receives of RDMA
 * WRITEs with immediate data have none.
 */
public final class ScatterGather {
    private static final @Nullable MemoryRegion[] NO_REGIONS = new @Nullable MemoryRegion[0];
    private static final long[] NO_BYTES = {};

    private final int max;

    /** Region of each piece. */
    public @Nullable MemoryRegion[] regions = NO_REGIONS;

    /** Offset of each piece in its region, in bytes. */
    public long[] offsets = NO_BYTES;

    /** Length of each piece, in bytes. */
    public long[] lengths = NO_BYTES;

    /** Number of pieces in use. */
    public int count;

    ScatterGather(int max) {
        this.max = max;
    }

    private void allocate() {
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
        if (lengths.length == 0) {
            allocate();
        }
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
