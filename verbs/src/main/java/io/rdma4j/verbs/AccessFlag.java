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
    ZERO_BASED(32);

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
