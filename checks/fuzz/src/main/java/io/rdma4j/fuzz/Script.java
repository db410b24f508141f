package io.rdma4j.fuzz;

import java.util.Arrays;

/**
 * An input read as a sequence of steps. Mutating a step leaves earlier steps unchanged. All bytes after the end are
 * zero. Not thread safe.
 */
final class Script {
    private final byte[] bytes;
    private int position;

    Script(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Returns whether all bytes were read. */
    boolean isAtEnd() {
        return position >= bytes.length;
    }

    /** Returns the next byte, 0 to 255. */
    int u8() {
        return position < bytes.length ? bytes[position++] & 0xff : 0;
    }

    /** Returns the lowest bit of the next byte. */
    boolean flag() {
        return (u8() & 1) != 0;
    }

    /** Returns the next two bytes, 0 to 65535. */
    int u16() {
        return u8() << 8 | u8();
    }

    /** Returns the next four bytes. */
    int s32() {
        return u16() << 16 | u16();
    }

    /** Returns the next eight bytes. */
    long s64() {
        return (long) s32() << 32 | s32() & 0xffff_ffffL;
    }

    /** Returns a number from 0 to {@code count} - 1, where {@code count} is at most 256. */
    int choice(int count) {
        return u8() % count;
    }

    /** Returns a signed number, usually near 0; distant ones take four more bytes. */
    int near() {
        int value = (byte) u8();
        return value == Byte.MIN_VALUE ? s32() : value;
    }

    /** Returns a sequence of bytes, preceded by a two-byte length. The sequence ends early at the end of the input. */
    byte[] run() {
        int length = Math.min(u16(), bytes.length - Math.min(position, bytes.length));
        byte[] result = Arrays.copyOfRange(bytes, position, position + length);
        position += length;
        return result;
    }

    /** Returns all remaining bytes. */
    byte[] rest() {
        byte[] result = Arrays.copyOfRange(bytes, Math.min(position, bytes.length), bytes.length);
        position = bytes.length;
        return result;
    }
}
