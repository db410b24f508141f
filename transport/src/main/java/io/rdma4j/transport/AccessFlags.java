package io.rdma4j.transport;

/** Rights of memory regions and queue pairs, as bits with the numbers of {@code ibv_access_flags}. */
public final class AccessFlags {
    /** The device may write on behalf of the owner: receives, READ and atomic results. */
    public static final int LOCAL_WRITE = 1;

    /** The peer may write. */
    public static final int REMOTE_WRITE = 2;

    /** The peer may read. */
    public static final int REMOTE_READ = 4;

    /** The peer may do atomic operations. */
    public static final int REMOTE_ATOMIC = 8;

    /** Memory windows may be bound to the region. */
    public static final int MEMORY_WINDOW_BIND = 16;

    /** The peer's addresses begin at 0: of a region or of a memory window. */
    public static final int ZERO_BASED = 32;

    private AccessFlags() {}
}
