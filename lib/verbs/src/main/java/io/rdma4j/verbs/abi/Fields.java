package io.rdma4j.verbs.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.rdma4j.value.Gid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reads and writes fields of C structures, in native byte order unless a method specifies network byte order. */
public final class Fields {
    private static final ValueLayout.OfLong BIG_ENDIAN_LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt BIG_ENDIAN_INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfShort BIG_ENDIAN_SHORT = JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Fields() {}

    /** Sets a byte to the lowest bits of a number. */
    public static void putByte(MemorySegment structure, long at, int value) {
        structure.set(JAVA_BYTE, at, (byte) value);
    }

    /** Sets a field of 16 bits. */
    public static void putShort(MemorySegment structure, long at, int value) {
        structure.set(JAVA_SHORT_UNALIGNED, at, (short) value);
    }

    /** Sets a field of 32 bits. */
    public static void putInt(MemorySegment structure, long at, int value) {
        structure.set(JAVA_INT_UNALIGNED, at, value);
    }

    /** Sets a field of 64 bits. */
    public static void putLong(MemorySegment structure, long at, long value) {
        structure.set(JAVA_LONG_UNALIGNED, at, value);
    }

    /** Sets a field of 16 bits in network order. */
    public static void putBigEndianShort(MemorySegment structure, long at, int value) {
        structure.set(BIG_ENDIAN_SHORT, at, (short) value);
    }

    /** Sets a field of 32 bits in network order. */
    public static void putBigEndianInt(MemorySegment structure, long at, int value) {
        structure.set(BIG_ENDIAN_INT, at, value);
    }

    /** Copies bytes into a field. */
    public static void putBytes(MemorySegment structure, long at, byte[] bytes) {
        MemorySegment.copy(bytes, 0, structure, JAVA_BYTE, at, bytes.length);
    }

    /** Sets a GID. */
    public static void putGid(MemorySegment structure, long at, Gid gid) {
        structure.set(BIG_ENDIAN_LONG, at, gid.high());
        structure.set(BIG_ENDIAN_LONG, at + Long.BYTES, gid.low());
    }

    /** Returns a byte, from 0 to 255. */
    public static int byteAt(MemorySegment structure, long at) {
        return structure.get(JAVA_BYTE, at) & 0xff;
    }

    /** Sets a field of 64 bits in network order. */
    public static void putBigEndianLong(MemorySegment structure, long at, long value) {
        structure.set(BIG_ENDIAN_LONG, at, value);
    }

    /** Returns a field of 16 bits, from 0 to 65535. */
    public static int shortAt(MemorySegment structure, long at) {
        return structure.get(JAVA_SHORT_UNALIGNED, at) & 0xffff;
    }

    /** Returns a field of 16 bits in network order, from 0 to 65535. */
    public static int bigEndianShortAt(MemorySegment structure, long at) {
        return structure.get(BIG_ENDIAN_SHORT, at) & 0xffff;
    }

    /** Returns a field of 32 bits in network order. */
    public static int bigEndianIntAt(MemorySegment structure, long at) {
        return structure.get(BIG_ENDIAN_INT, at);
    }

    /** Returns a field of 32 bits. */
    public static int intAt(MemorySegment structure, long at) {
        return structure.get(JAVA_INT_UNALIGNED, at);
    }

    /** Returns a field of 64 bits. */
    public static long longAt(MemorySegment structure, long at) {
        return structure.get(JAVA_LONG_UNALIGNED, at);
    }

    /** Returns a field of 64 bits in network order. */
    public static long bigEndianLongAt(MemorySegment structure, long at) {
        return structure.get(BIG_ENDIAN_LONG, at);
    }

    /** Returns a copy of bytes. */
    public static byte[] bytesAt(MemorySegment structure, long at, int count) {
        return structure.asSlice(at, count).toArray(JAVA_BYTE);
    }

    /** Returns a GID. */
    public static Gid gidAt(MemorySegment structure, long at) {
        return new Gid(bigEndianLongAt(structure, at), bigEndianLongAt(structure, at + Long.BYTES));
    }
}
