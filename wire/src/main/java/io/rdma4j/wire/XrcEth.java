package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * XRC Extended Transport Header: which shared receive queue of the target an extended reliable connection's request is
 * for. It follows the BTH of every request. Source: InfiniBand Architecture volume 1, annex A14.
 *
 * @param sharedReceiveQueue number of the shared receive queue, 24 bits
 */
public record XrcEth(int sharedReceiveQueue) {
    /** Bytes of the header. */
    public static final int LENGTH = 4;

    private static final int SHARED_RECEIVE_QUEUE = 1;

    /** Number of the shared receive queue, 24 bits. */
    public static int sharedReceiveQueue(MemorySegment s, long at) {
        return Wire.u24(s, at + SHARED_RECEIVE_QUEUE);
    }

    /** Writes a whole header; the hot path's way. */
    public static void write(MemorySegment s, long at, int sharedReceiveQueue) {
        Wire.u32(s, at, sharedReceiveQueue & 0xff_ffff);
    }

    /** Reads a header; {@link #LENGTH} bytes must lie at {@code at}. */
    public static XrcEth parse(MemorySegment s, long at) {
        return new XrcEth(sharedReceiveQueue(s, at));
    }

    /** Writes this header; every one of the {@link #LENGTH} bytes is written. */
    public void emit(MemorySegment s, long at) {
        write(s, at, sharedReceiveQueue);
    }
}
