package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * XRC Extended Transport Header: the target's shared receive queue of a request on an extended reliable connection. It
 * follows the BTH of every request. Source: InfiniBand Architecture volume 1, annex A14.
 *
 * @param sharedReceiveQueue number of the shared receive queue, 24 bits
 */
public record XrcEth(int sharedReceiveQueue) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 4;

    private static final int SHARED_RECEIVE_QUEUE = 1;

    /** Returns the number of the shared receive queue, 24 bits. */
    public static int sharedReceiveQueue(MemorySegment s, long at) {
        return Wire.u24(s, at + SHARED_RECEIVE_QUEUE);
    }

    /** Writes a whole header without creating a record. */
    public static void write(MemorySegment s, long at, int sharedReceiveQueue) {
        Wire.u32(s, at, sharedReceiveQueue & 0xff_ffff);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static XrcEth parse(MemorySegment s, long at) {
        return new XrcEth(sharedReceiveQueue(s, at));
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        write(s, at, sharedReceiveQueue);
    }
}
