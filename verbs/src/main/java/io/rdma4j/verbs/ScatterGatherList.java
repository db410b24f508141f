package io.rdma4j.verbs;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Pieces of registered memory, in order; reusable. C: an array of {@code struct ibv_sge}. Not thread safe. */
public final class ScatterGatherList {
    /** Memory regions, as objects: to store in an array of an interface's type, the virtual machine looks for the interface. */
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
     * Adds a piece.
     *
     * @param region registered memory
     * @param offsetBytes where the piece begins in the region
     * @param lengthBytes bytes of the piece, 0 to 2<sup>31</sup>
     * @throws IndexOutOfBoundsException if the piece is not within the region
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

    /** Number of pieces. */
    public int count() {
        return count;
    }

    /** Memory of piece {@code index}. */
    public MemoryRegion region(int index) {
        return (MemoryRegion) Objects.requireNonNull(regions[Objects.checkIndex(index, count)]);
    }

    /** Where piece {@code index} begins in its region. */
    public long offsetBytes(int index) {
        return offsets[index];
    }

    /** Bytes of piece {@code index}. */
    public long lengthBytes(int index) {
        return lengths[index];
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
