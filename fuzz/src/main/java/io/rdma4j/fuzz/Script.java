package io.rdma4j.fuzz;

import java.util.Arrays;

/**
 * An input read as a list of steps, from the front: a mutation of a step leaves those before it as they were. Behind the
 * end everything is zero. Not thread safe.
 */
final class Script {
    private final byte[] bytes;
    private int at;

    Script(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Whether all was read. */
    boolean isAtEnd() {
        return at >= bytes.length;
    }

    /** The next byte, 0 to 255. */
    int u8() {
        return at < bytes.length ? bytes[at++] & 0xff : 0;
    }

    /** The next bit of a byte of its own. */
    boolean flag() {
        return (u8() & 1) != 0;
    }

    /** The next two bytes, 0 to 65535. */
    int u16() {
        return u8() << 8 | u8();
    }

    /** The next four bytes. */
    int s32() {
        return u16() << 16 | u16();
    }

    /** The next eight bytes. */
    long s64() {
        return (long) s32() << 32 | s32() & 0xffff_ffffL;
    }

    /** A number from 0 to before {@code count}, at most 256. */
    int choice(int count) {
        return u8() % count;
    }

    /** A signed number near 0 in most cases; the far ones come by way of more bytes. */
    int near() {
        int value = (byte) u8();
        return value == Byte.MIN_VALUE ? s32() : value;
    }

    /** Two bytes that say how many follow, and these, as far as there are. */
    byte[] run() {
        int length = Math.min(u16(), bytes.length - Math.min(at, bytes.length));
        byte[] found = Arrays.copyOfRange(bytes, at, at + length);
        at += length;
        return found;
    }

    /** All bytes that are left. */
    byte[] rest() {
        byte[] found = Arrays.copyOfRange(bytes, Math.min(at, bytes.length), bytes.length);
        at = bytes.length;
        return found;
    }
}
