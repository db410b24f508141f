package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * RDMA Extended Transport Header: the remote memory of a WRITE or READ. Source: InfiniBand Architecture volume 1,
 * 9.3.3.
 *
 * @param address virtual address at the responder
 * @param key remote key
 * @param dmaLength length of the whole message in bytes, unsigned, at most 2<sup>31</sup>
 */
public record Reth(long address, int key, int dmaLength) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 16;

    private static final int ADDRESS = 0;
    private static final int KEY = 8;
    private static final int DMA_LENGTH = 12;

    /** Returns the virtual address at the responder. */
    public static long address(MemorySegment s, long at) {
        return Wire.u64(s, at + ADDRESS);
    }

    /** Returns the remote key. */
    public static int key(MemorySegment s, long at) {
        return Wire.u32(s, at + KEY);
    }

    /** Returns the length of the whole message in bytes, unsigned, at most 2<sup>31</sup>. */
    public static int dmaLength(MemorySegment s, long at) {
        return Wire.u32(s, at + DMA_LENGTH);
    }

    /** Writes a whole header without creating a record. */
    public static void write(MemorySegment s, long at, long address, int key, int dmaLength) {
        Wire.u64(s, at + ADDRESS, address);
        Wire.u64(s, at + KEY, (long) key << 32 | dmaLength & 0xffff_ffffL);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static Reth parse(MemorySegment s, long at) {
        return new Reth(address(s, at), key(s, at), dmaLength(s, at));
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        write(s, at, address, key, dmaLength);
    }
}
