package io.rdma4j.hardware.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.rdma4j.verbs.Gid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reads and writes fields of C structures, in the order of the processor unless a method names another one. */
final class Fields {
    private static final ValueLayout.OfLong BIG_ENDIAN_LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt BIG_ENDIAN_INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfShort BIG_ENDIAN_SHORT = JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Fields() {}

    static void putByte(MemorySegment structure, long at, int value) {
        structure.set(JAVA_BYTE, at, (byte) value);
    }

    static void putShort(MemorySegment structure, long at, int value) {
        structure.set(JAVA_SHORT_UNALIGNED, at, (short) value);
    }

    static void putInt(MemorySegment structure, long at, int value) {
        structure.set(JAVA_INT_UNALIGNED, at, value);
    }

    static void putLong(MemorySegment structure, long at, long value) {
        structure.set(JAVA_LONG_UNALIGNED, at, value);
    }

    static void putBigEndianShort(MemorySegment structure, long at, int value) {
        structure.set(BIG_ENDIAN_SHORT, at, (short) value);
    }

    static void putBigEndianInt(MemorySegment structure, long at, int value) {
        structure.set(BIG_ENDIAN_INT, at, value);
    }

    static void putBytes(MemorySegment structure, long at, byte[] bytes) {
        MemorySegment.copy(bytes, 0, structure, JAVA_BYTE, at, bytes.length);
    }

    static void putGid(MemorySegment structure, long at, Gid gid) {
        structure.set(BIG_ENDIAN_LONG, at, gid.high());
        structure.set(BIG_ENDIAN_LONG, at + Long.BYTES, gid.low());
    }

    static int byteAt(MemorySegment structure, long at) {
        return structure.get(JAVA_BYTE, at) & 0xff;
    }

    static int shortAt(MemorySegment structure, long at) {
        return structure.get(JAVA_SHORT_UNALIGNED, at) & 0xffff;
    }

    static int bigEndianShortAt(MemorySegment structure, long at) {
        return structure.get(BIG_ENDIAN_SHORT, at) & 0xffff;
    }

    static int intAt(MemorySegment structure, long at) {
        return structure.get(JAVA_INT_UNALIGNED, at);
    }

    static long longAt(MemorySegment structure, long at) {
        return structure.get(JAVA_LONG_UNALIGNED, at);
    }

    static long bigEndianLongAt(MemorySegment structure, long at) {
        return structure.get(BIG_ENDIAN_LONG, at);
    }

    static byte[] bytesAt(MemorySegment structure, long at, int count) {
        return structure.asSlice(at, count).toArray(JAVA_BYTE);
    }

    static Gid gidAt(MemorySegment structure, long at) {
        return new Gid(bigEndianLongAt(structure, at), bigEndianLongAt(structure, at + Long.BYTES));
    }
}
