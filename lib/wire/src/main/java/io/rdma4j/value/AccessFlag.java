package io.rdma4j.value;

import java.util.Set;

/** Access rights of a memory region, a memory window or a queue pair. C: {@code enum ibv_access_flags}. */
public enum AccessFlag {
    /** The device may write for the owner: received messages, and results of READs and atomics. */
    LOCAL_WRITE(1),
    /** The peer may write. Requires {@link #LOCAL_WRITE}. */
    REMOTE_WRITE(2),
    /** The peer may read. */
    REMOTE_READ(4),
    /** The peer may execute atomic operations. Requires {@link #LOCAL_WRITE}. */
    REMOTE_ATOMIC(8),
    /** Memory windows may be bound to the region. */
    MEMORY_WINDOW_BIND(16),
    /** Addresses used by the peer start at 0. */
    ZERO_BASED(32),
    /**
     * The device finds pages when it uses them, instead of locking all of them at registration. Only for memory
     * regions. Only devices with on-demand paging ({@code DeviceAttributes.hasOnDemandPaging}) support it, for the
     * operations in {@code DeviceAttributes.onDemandOperations}. The software device never locks memory, so this
     * changes nothing there.
     */
    ON_DEMAND(64),
    /**
     * The memory consists of huge pages. Only for memory regions, together with {@link #ON_DEMAND}. A device may then
     * be faster, and may refuse memory of other pages. The flag has no effect on the software device.
     */
    HUGE_TLB(128),
    /**
     * The peer may post a FLUSH that makes what it wrote visible to all ({@link PlacementType#GLOBAL}). For memory regions and
     * queue pairs of devices with {@code DeviceCapability.FLUSH_GLOBAL}.
     */
    FLUSH_GLOBAL(1 << 8),
    /**
     * The peer may post a FLUSH that makes what it wrote persistent ({@link PlacementType#PERSISTENT}). For memory regions and
     * queue pairs of devices with {@code DeviceCapability.FLUSH_PERSISTENT}. The memory of the region has to be persistent:
     * on the software device a mapped file ({@link java.lang.foreign.MemorySegment#isMapped}), on others persistent memory.
     */
    FLUSH_PERSISTENT(1 << 9),
    /**
     * The device may write data in a different order than they arrive in, which can be faster. A program must then wait
     * for a completion before it reads what was written, and not for a change of the last byte. Only for memory
     * regions. Devices without it, such as the software device, ignore it.
     */
    RELAXED_ORDERING(1 << 20);

    private final int bit;

    AccessFlag(int bit) {
        this.bit = bit;
    }

    /** Returns the bit of {@code ibv_access_flags}. */
    public int bit() {
        return bit;
    }

    /** Returns the bits of a set of rights. */
    public static int bits(Set<AccessFlag> flags) {
        int bits = 0;
        for (AccessFlag flag : flags) {
            bits |= flag.bit;
        }
        return bits;
    }
}
