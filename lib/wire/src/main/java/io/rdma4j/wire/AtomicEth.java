package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Atomic Extended Transport Header: the operands of compare-and-swap and fetch-and-add, big-endian. Source: InfiniBand
 * Architecture volume 1, 9.3.5.
 *
 * @param address virtual address at the responder, a multiple of 8
 * @param key remote key
 * @param swapOrAdd value to store or to add
 * @param compare value to compare with; 0 for fetch-and-add
 */
public record AtomicEth(long address, int key, long swapOrAdd, long compare) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 28;

    private static final int ADDRESS = 0;
    private static final int KEY = 8;
    private static final int SWAP_OR_ADD = 12;
    private static final int COMPARE = 20;

    /** Returns the virtual address at the responder, a multiple of 8. */
    public static long address(MemorySegment s, long at) {
        return Wire.u64(s, at + ADDRESS);
    }

    /** Returns the remote key. */
    public static int key(MemorySegment s, long at) {
        return Wire.u32(s, at + KEY);
    }

    /** Returns the value to store or to add. */
    public static long swapOrAdd(MemorySegment s, long at) {
        return Wire.u64(s, at + SWAP_OR_ADD);
    }

    /** Returns the value to compare with, or 0 for fetch-and-add. */
    public static long compare(MemorySegment s, long at) {
        return Wire.u64(s, at + COMPARE);
    }

    /** Writes a whole header without creating a record. */
    public static void write(MemorySegment s, long at, long address, int key, long swapOrAdd, long compare) {
        Wire.u64(s, at + ADDRESS, address);
        Wire.u32(s, at + KEY, key);
        Wire.u64(s, at + SWAP_OR_ADD, swapOrAdd);
        Wire.u64(s, at + COMPARE, compare);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static AtomicEth parse(MemorySegment s, long at) {
        return new AtomicEth(address(s, at), key(s, at), swapOrAdd(s, at), compare(s, at));
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        write(s, at, address, key, swapOrAdd, compare);
    }
}
