package io.rdma4j.verbs.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * Reads and writes C structures by their addresses. The caller must ensure that the address belongs to a live object;
 * it is not checked. Addresses may be unaligned, since C has packed structures.
 */
public final class Native {
    private static final MemorySegment ALL = everything();

    private Native() {}

    @SuppressWarnings("restricted")
    private static MemorySegment everything() {
        return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    }

    /** Returns the memory of a structure or a buffer. */
    public static MemorySegment segment(long address, long bytes) {
        return ALL.asSlice(address, bytes);
    }

    /** Returns a byte of a structure. */
    public static byte byteAt(long address) {
        return ALL.get(JAVA_BYTE, address);
    }

    /** Sets a byte of a structure. */
    public static void putByte(long address, byte value) {
        ALL.set(JAVA_BYTE, address, value);
    }

    /** Returns a {@code short} of a structure. */
    public static short shortAt(long address) {
        return ALL.get(JAVA_SHORT_UNALIGNED, address);
    }

    /** Sets a {@code short} of a structure. */
    public static void putShort(long address, short value) {
        ALL.set(JAVA_SHORT_UNALIGNED, address, value);
    }

    /** Returns an {@code int} of a structure. */
    public static int intAt(long address) {
        return ALL.get(JAVA_INT_UNALIGNED, address);
    }

    /** Sets an {@code int} of a structure. */
    public static void putInt(long address, int value) {
        ALL.set(JAVA_INT_UNALIGNED, address, value);
    }

    /** Returns a pointer or a {@code long} of a structure. */
    public static long longAt(long address) {
        return ALL.get(JAVA_LONG_UNALIGNED, address);
    }

    /** Sets a pointer or a {@code long} of a structure. */
    public static void putLong(long address, long value) {
        ALL.set(JAVA_LONG_UNALIGNED, address, value);
    }

    /** Copies bytes between two ranges that may overlap. */
    public static void copy(long from, long to, long bytes) {
        MemorySegment.copy(ALL, from, ALL, to, bytes);
    }

    /** Returns a pointer to a C function, for a downcall. */
    public static MemorySegment functionAt(long address) {
        return MemorySegment.ofAddress(longAt(address));
    }

    /** Returns the text of a zero-terminated field of at most {@code maxBytes} bytes. */
    public static String textAt(long address, int maxBytes) {
        int length = 0;
        while (length < maxBytes && ALL.get(JAVA_BYTE, address + length) != 0) {
            length++;
        }
        byte[] bytes = new byte[length];
        MemorySegment.copy(ALL, JAVA_BYTE, address, bytes, 0, length);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
