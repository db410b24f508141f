package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Immediate data: four bytes that the receiver finds in its completion. Source: InfiniBand Architecture volume 1, 9.3.6.
 *
 * @param data the immediate data, in network order on the wire
 */
public record ImmDt(int data) {
    /** Bytes of the header. */
    public static final int LENGTH = 4;

    private static final int DATA = 0;

    /** The immediate data, in network order on the wire. */
    public static int data(MemorySegment s, long at) {
        return Wire.u32(s, at + DATA);
    }

    /** Writes a whole header; the hot path's way. */
    public static void write(MemorySegment s, long at, int data) {
        Wire.u32(s, at + DATA, data);
    }

    /** Reads a header; {@link #LENGTH} bytes must lie at {@code at}. */
    public static ImmDt parse(MemorySegment s, long at) {
        return new ImmDt(data(s, at));
    }

    /** Writes this header; every one of the {@link #LENGTH} bytes is written. */
    public void emit(MemorySegment s, long at) {
        write(s, at, data);
    }
}
