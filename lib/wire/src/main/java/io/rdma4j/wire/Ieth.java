package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Invalidate Extended Transport Header: the key that a SEND with invalidate invalidates. Source: InfiniBand
 * Architecture volume 1, 9.3.7.
 *
 * @param key remote key to invalidate
 */
public record Ieth(int key) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 4;

    private static final int KEY = 0;

    /** Returns the remote key to invalidate. */
    public static int key(MemorySegment s, long at) {
        return Wire.u32(s, at + KEY);
    }

    /** Writes a whole header without creating a record. */
    public static void write(MemorySegment s, long at, int key) {
        Wire.u32(s, at + KEY, key);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static Ieth parse(MemorySegment s, long at) {
        return new Ieth(key(s, at));
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        write(s, at, key);
    }
}
