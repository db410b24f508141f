package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Atomic Acknowledge Extended Transport Header: the value of the memory before the operation. Source: InfiniBand
 * Architecture volume 1, 9.5.3.
 *
 * @param original value before the operation
 */
public record AtomicAckEth(long original) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 8;

    private static final int ORIGINAL = 0;

    /** Returns the value before the operation. */
    public static long original(MemorySegment s, long at) {
        return Wire.u64(s, at + ORIGINAL);
    }

    /** Writes a whole header without creating a record. */
    public static void write(MemorySegment s, long at, long original) {
        Wire.u64(s, at + ORIGINAL, original);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static AtomicAckEth parse(MemorySegment s, long at) {
        return new AtomicAckEth(original(s, at));
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        write(s, at, original);
    }
}
