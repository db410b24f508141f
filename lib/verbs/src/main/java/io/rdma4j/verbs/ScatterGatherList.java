package io.rdma4j.verbs;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A reusable, ordered list of ranges of registered memory. C: an array of {@code struct ibv_sge}. Not thread safe. */
public final class ScatterGatherList {
    /**
     * Memory regions. The element type is Object, since each store to an array of an interface type checks the
     * interface.
     */
    private @Nullable Object[] regions = new @Nullable Object[2];

    private long[] offsets = new long[2];
    private long[] lengths = new long[2];
    private int count;

    /** Creates an empty list. */
    public ScatterGatherList() {}

    /** Empties the list. */
    public void clear() {
        Arrays.fill(regions, 0, count, null);
        count = 0;
    }

    /**
     * Adds a range.
     *
     * @param region registered memory
     * @param offsetBytes offset of the range in the region
     * @param lengthBytes length of the range in bytes, 0 to 2<sup>31</sup>
     * @throws IndexOutOfBoundsException if the range is not within the region
     */
    public void add(MemoryRegion region, long offsetBytes, long lengthBytes) {
        Objects.checkFromIndexSize(offsetBytes, lengthBytes, region.lengthBytes());
        if (count == lengths.length) {
            regions = Arrays.copyOf(regions, count * 2);
            offsets = Arrays.copyOf(offsets, count * 2);
            lengths = Arrays.copyOf(lengths, count * 2);
        }
        regions[count] = region;
        offsets[count] = offsetBytes;
        lengths[count] = lengthBytes;
        count++;
    }

    /** Returns the number of ranges. */
    public int count() {
        return count;
    }

    /** Returns the region of range {@code index}. */
    public MemoryRegion region(int index) {
        return (MemoryRegion) Objects.requireNonNull(regions[Objects.checkIndex(index, count)]);
    }

    /** Returns the offset of range {@code index} in its region, in bytes. */
    public long offsetBytes(int index) {
        return offsets[index];
    }

    /** Returns the length of range {@code index} in bytes. */
    public long lengthBytes(int index) {
        return lengths[index];
    }

    /** Returns the total length of all ranges in bytes. */
    public long totalBytes() {
        long total = 0;
        for (int i = 0; i < count; i++) {
            total += lengths[i];
        }
        return total;
    }
}
