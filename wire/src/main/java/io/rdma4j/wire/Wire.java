package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Big-endian, unaligned reads and writes of the field sizes that the headers use. Offsets are in bytes. */
final class Wire {
    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Wire() {}

    static int u8(MemorySegment s, long at) {
        return s.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    static void u8(MemorySegment s, long at, int value) {
        s.set(ValueLayout.JAVA_BYTE, at, (byte) value);
    }

    static int u16(MemorySegment s, long at) {
        return s.get(U16, at) & 0xffff;
    }

    static void u16(MemorySegment s, long at, int value) {
        s.set(U16, at, (short) value);
    }

    /** Three bytes, network order. */
    static int u24(MemorySegment s, long at) {
        return u8(s, at) << 16 | u16(s, at + 1);
    }

    /** Three bytes, network order; the byte before them is left alone. */
    static void u24(MemorySegment s, long at, int value) {
        u8(s, at, value >>> 16);
        u16(s, at + 1, value);
    }

    static int u32(MemorySegment s, long at) {
        return s.get(U32, at);
    }

    static void u32(MemorySegment s, long at, int value) {
        s.set(U32, at, value);
    }

    static long u64(MemorySegment s, long at) {
        return s.get(U64, at);
    }

    static void u64(MemorySegment s, long at, long value) {
        s.set(U64, at, value);
    }
}
