package io.rdma4j.verbs;

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
     * The device reads and writes pages where they are at the time of use, instead of having all of them locked in memory from the
     * start. Only for memory regions. Only devices with {@link DeviceAttributes#hasOnDemandPaging} take it, for the operations of
     * {@link DeviceAttributes#onDemandOperations}. The software device never locks memory, so this changes nothing there.
     */
    ON_DEMAND(64),
    /**
     * The memory consists of huge pages. Only for memory regions, together with {@link #ON_DEMAND}. A device may work faster
     * then, and may refuse other memory. This changes nothing on the software device.
     */
    HUGE_TLB(128),
    /**
     * The device may write data in another order than the one in which they arrive, which some computers do faster. Then nothing
     * may be concluded from the order in which bytes change: wait for a completion. Only for memory regions. Devices that do not
     * have it, such as the software device, ignore it.
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
