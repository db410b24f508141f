package io.rdma4j.value;

import java.util.Set;

/** How far a FLUSH takes what was written to the peer's memory. C: {@code enum ibv_placement_type}. */
public enum PlacementType {
    /**
     * The bytes are visible to all that access the memory: the peer's processors and its other devices. The peer's region and
     * queue pair need {@link AccessFlag#FLUSH_GLOBAL}.
     */
    GLOBAL(1),
    /**
     * The bytes are in persistent memory, and survive a power failure. The peer's region and queue pair need {@link
     * AccessFlag#FLUSH_PERSISTENT}.
     */
    PERSISTENT(2);

    private final int bit;

    PlacementType(int bit) {
        this.bit = bit;
    }

    /** Returns the bit of {@code ibv_placement_type}. */
    public int bit() {
        return bit;
    }

    /** Returns the bits of a set of types. */
    public static int bits(Set<PlacementType> types) {
        int bits = 0;
        for (PlacementType type : types) {
            bits |= type.bit;
        }
        return bits;
    }
}
