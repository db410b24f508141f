package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Atomic Acknowledge Extended Transport Header: what the memory held before the operation. Source: InfiniBand Architecture volume 1, 9.5.3.
 *
 * @param original value before the operation
 */
public record AtomicAckEth(long original) {
    /** Bytes of the header. */
    public static final int LENGTH = 8;

    private static final int ORIGINAL = 0;

    /** Value before the operation. */
    public static long original(MemorySegment s, long at) {
        return Wire.u64(s, at + ORIGINAL);
    }

    /** Writes a whole header; the hot path's way. */
    public static void write(MemorySegment s, long at, long original) {
        Wire.u64(s, at + ORIGINAL, original);
    }

    /** Reads a header; {@link #LENGTH} bytes must lie at {@code at}. */
    public static AtomicAckEth parse(MemorySegment s, long at) {
        return new AtomicAckEth(original(s, at));
    }

    /** Writes this header; every one of the {@link #LENGTH} bytes is written. */
    public void emit(MemorySegment s, long at) {
        write(s, at, original);
    }
}
