package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * FLUSH Extended Transport Header: how far a FLUSH takes what was written, and which memory it concerns. A RETH follows.
 * The placement types are in bits 3 to 0, the selectivity level is in bits 5 and 4, and the other bits are reserved. Source:
 * InfiniBand Architecture volume 1, annex A19.
 *
 * @param placement {@link #GLOBAL}, {@link #PERSISTENT} or both
 * @param selectivity {@link #RANGE} or {@link #REGION}
 */
public record Feth(int placement, int selectivity) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 4;

    /** Placement type: what was written becomes visible to all that access the memory. */
    public static final int GLOBAL = 1;

    /** Placement type: what was written becomes persistent. */
    public static final int PERSISTENT = 2;

    /** Selectivity level: the bytes that the RETH names. */
    public static final int RANGE = 0;

    /** Selectivity level: the whole region or window of the key; address and length of the RETH have no meaning. */
    public static final int REGION = 1;

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
