package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Immediate data: four bytes that the receiver gets in its work completion. Source: InfiniBand Architecture volume 1,
 * 9.3.6.
 *
 * @param data the immediate data, in network order on the wire
 */
public record ImmDt(int data) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 4;

    private static final int DATA = 0;

    /** Returns the immediate data, in network order on the wire. */
    public static int data(MemorySegment s, long at) {
        return Wire.u32(s, at + DATA);
    }

    /** Writes a whole header without creating a record. */
    public static void write(MemorySegment s, long at, int data) {
        Wire.u32(s, at + DATA, data);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static ImmDt parse(MemorySegment s, long at) {
        return new ImmDt(data(s, at));
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        write(s, at, data);
    }
}
