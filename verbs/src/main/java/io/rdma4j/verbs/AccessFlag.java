package io.rdma4j.verbs;

import java.util.Set;

/** Rights of a memory region, a memory window or a queue pair. C: {@code enum ibv_access_flags}. */
public enum AccessFlag {
    /** The device may write on behalf of the owner: receives, results of READ and atomics. */
    LOCAL_WRITE(1),
    /** The peer may write; needs {@link #LOCAL_WRITE}. */
    REMOTE_WRITE(2),
    /** The peer may read. */
    REMOTE_READ(4),
    /** The peer may do atomic operations; needs {@link #LOCAL_WRITE}. */
    REMOTE_ATOMIC(8),
    /** Memory windows may be bound to the region. */
    MEMORY_WINDOW_BIND(16),
    /** The peer's addresses begin at 0. */
    ZERO_BASED(32);

    private final int bit;

    AccessFlag(int bit) {
        this.bit = bit;
    }

    /** The bit of {@code ibv_access_flags}. */
    public int bit() {
        return bit;
    }

    /** The bits of a set of rights. */
    public static int bits(Set<AccessFlag> flags) {
        int bits = 0;
        for (AccessFlag flag : flags) {
            bits |= flag.bit;
        }
        return bits;
    }
}
