package io.rdma4j.wire;

import io.rdma4j.value.Gid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Big-endian, unaligned reads and writes of the field sizes that the headers use. Offsets are in bytes.
 *
 * <p>Unsigned fields of up to 24 bits are returned as a non-negative {@code int}, those of 32 and 64 bits as the
 * {@code int} or {@code long} of the same bits. A write stores the low bits of its value. All methods throw
 * {@link IndexOutOfBoundsException} outside the segment, so callers check lengths first.
 */
public final class Wire {
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Wire() {}

    /** Reads one byte, 0 to 255. */
    public static int u8(MemorySegment s, long at) {
        return s.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    /** Writes one byte. */
    public static void u8(MemorySegment s, long at, int value) {
        s.set(ValueLayout.JAVA_BYTE, at, (byte) value);
    }

    /** Reads two bytes, 0 to 65535. */
    public static int u16(MemorySegment s, long at) {
        return s.get(U16, at) & 0xffff;
    }

    /** Writes two bytes. */
    public static void u16(MemorySegment s, long at, int value) {
        s.set(U16, at, (short) value);
    }

    /** Reads three bytes, 0 to 2<sup>24</sup>-1. */
    public static int u24(MemorySegment s, long at) {
        return u8(s, at) << 16 | u16(s, at + 1);
    }

    /** Writes three bytes. The byte before them does not change. */
    public static void u24(MemorySegment s, long at, int value) {
        u8(s, at, value >>> 16);
        u16(s, at + 1, value);
    }

    /** Reads four bytes. */
    public static int u32(MemorySegment s, long at) {
        return s.get(U32, at);
    }

    /** Writes four bytes. */
    public static void u32(MemorySegment s, long at, int value) {
        s.set(U32, at, value);
    }

    /** Reads eight bytes. */
    public static long u64(MemorySegment s, long at) {
        return s.get(U64, at);
    }

    /** Writes eight bytes. */
    public static void u64(MemorySegment s, long at, long value) {
        s.set(U64, at, value);
    }

    /** Reads the {@value Gid#LENGTH} bytes of a GID. */
    public static Gid gid(MemorySegment s, long at) {
        return new Gid(u64(s, at), u64(s, at + 8));
    }

    /** Writes the {@value Gid#LENGTH} bytes of a GID. */
    public static void gid(MemorySegment s, long at, Gid gid) {
        u64(s, at, gid.high());
        u64(s, at + 8, gid.low());
    }
}
