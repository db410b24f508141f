package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * RDMA Extended Transport Header: where a WRITE goes or a READ comes from. Source: InfiniBand Architecture volume 1, 9.3.3.
 *
 * @param address virtual address at the responder
 * @param key remote key
 * @param dmaLength bytes of the whole message, unsigned, at most 2<sup>31</sup>
 */
public record Reth(long address, int key, int dmaLength) {
    /** Bytes of the header. */
    public static final int LENGTH = 16;

    private static final int ADDRESS = 0;
    private static final int KEY = 8;
    private static final int DMA_LENGTH = 12;

    /** Virtual address at the responder. */
    public static long address(MemorySegment s, long at) {
        return Wire.u64(s, at + ADDRESS);
    }

    /** Remote key. */
    public static int key(MemorySegment s, long at) {
        return Wire.u32(s, at + KEY);
    }

    /** Bytes of the whole message, unsigned, at most 2<sup>31</sup>. */
    public static int dmaLength(MemorySegment s, long at) {
        return Wire.u32(s, at + DMA_LENGTH);
    }

    /** Writes a whole header; the hot path's way. */
    public static void write(MemorySegment s, long at, long address, int key, int dmaLength) {
        Wire.u64(s, at + ADDRESS, address);
        Wire.u32(s, at + KEY, key);
        Wire.u32(s, at + DMA_LENGTH, dmaLength);
    }

    /** Reads a header; {@link #LENGTH} bytes must lie at {@code at}. */
    public static Reth parse(MemorySegment s, long at) {
        return new Reth(address(s, at), key(s, at), dmaLength(s, at));
    }

    /** Writes this header; every one of the {@link #LENGTH} bytes is written. */
    public void emit(MemorySegment s, long at) {
        write(s, at, address, key, dmaLength);
    }
}
