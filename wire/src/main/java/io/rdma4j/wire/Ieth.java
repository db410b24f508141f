package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Invalidate Extended Transport Header: the key that a SEND with invalidate takes back. Source: InfiniBand Architecture volume 1, 9.3.7.
 *
 * @param key remote key to invalidate
 */
public record Ieth(int key) {
    /** Bytes of the header. */
    public static final int LENGTH = 4;

    private static final int KEY = 0;

    /** Remote key to invalidate. */
    public static int key(MemorySegment s, long at) {
        return Wire.u32(s, at + KEY);
    }

    /** Writes a whole header; the hot path's way. */
    public static void write(MemorySegment s, long at, int key) {
        Wire.u32(s, at + KEY, key);
    }

    /** Reads a header; {@link #LENGTH} bytes must lie at {@code at}. */
    public static Ieth parse(MemorySegment s, long at) {
        return new Ieth(key(s, at));
    }

    /** Writes this header; every one of the {@link #LENGTH} bytes is written. */
    public void emit(MemorySegment s, long at) {
        write(s, at, key);
    }
}
