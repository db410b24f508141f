package io.rdma4j.wire;

import io.rdma4j.value.PlacementType;
import io.rdma4j.value.SelectivityLevel;
import java.lang.foreign.MemorySegment;

/**
 * FLUSH Extended Transport Header: how far a FLUSH takes what was written, and which memory it concerns. A RETH follows.
 * The placement types are in bits 3 to 0, the selectivity level is in bits 5 and 4, and the other bits are reserved. Source:
 * InfiniBand Architecture volume 1, annex A19.
 *
 * @param placement bits of {@link PlacementType}; 4 bits, reserved ones are kept
 * @param selectivity number of a {@link SelectivityLevel}; 0 to 3, reserved ones are kept
 */
public record Feth(int placement, int selectivity) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 4;

    private static final int PLACEMENT_MASK = 0xf;
    private static final int SELECTIVITY_SHIFT = 4;
    private static final int SELECTIVITY_MASK = 3;

    /** Returns the placement types, 4 bits. */
    public static int placement(MemorySegment s, long at) {
        return Wire.u32(s, at) & PLACEMENT_MASK;
    }

    /** Returns the selectivity level, 0 to 3. */
    public static int selectivity(MemorySegment s, long at) {
        return Wire.u32(s, at) >>> SELECTIVITY_SHIFT & SELECTIVITY_MASK;
    }

    /** Writes a whole header without creating a record. */
    public static void write(MemorySegment s, long at, int placement, int selectivity) {
        Wire.u32(s, at, (selectivity & SELECTIVITY_MASK) << SELECTIVITY_SHIFT | placement & PLACEMENT_MASK);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static Feth parse(MemorySegment s, long at) {
        return new Feth(placement(s, at), selectivity(s, at));
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        write(s, at, placement, selectivity);
    }
}
