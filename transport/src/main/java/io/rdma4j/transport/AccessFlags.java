package io.rdma4j.transport;

/** Access rights of memory regions and queue pairs, as bits with the values of {@code ibv_access_flags}. */
public final class AccessFlags {
    /** The device may write on behalf of the owner: receives, results of READs and atomics. */
    public static final int LOCAL_WRITE = 1;

    /** The peer may write. */
    public static final int REMOTE_WRITE = 2;

    /** The peer may read. */
    public static final int REMOTE_READ = 4;

    /** The peer may perform atomic operations. */
    public static final int REMOTE_ATOMIC = 8;

    /** Memory windows may be bound to the region. */
    public static final int MEMORY_WINDOW_BIND = 16;

    /** The addresses that the peer uses start at 0; for memory regions and memory windows. */
    public static final int ZERO_BASED = 32;

    /** The peer may have what it wrote made visible to all, by FLUSH. */
    public static final int FLUSH_GLOBAL = 1 << 8;

    /** The peer may have what it wrote made persistent, by FLUSH. */
    public static final int FLUSH_PERSISTENT = 1 << 9;

    private AccessFlags() {}
}
