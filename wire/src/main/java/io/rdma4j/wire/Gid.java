package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * A global identifier: sixteen bytes that identify a port. On RoCEv2 it is the IPv6 address of the port, or its IPv4
 * address as {@code ::ffff:a.b.c.d}. C counterpart: {@code union ibv_gid}.
 *
 * @param high the first eight bytes, network order
 * @param low the last eight bytes, network order
 */
public record Gid(long high, long low) {
    /** Length of a global identifier in bytes. */
    public static final int LENGTH = 16;

    /** All zero: no address. */
    public static final Gid ZERO = new Gid(0, 0);

    /** Returns the identifier of an IPv4 address. */
    public static Gid ofIpv4(int address) {
        return new Gid(0, Frame.ipv4Low(address));
    }

    /** Returns whether this is the identifier of an IPv4 address. */
    public boolean isIpv4() {
        return Frame.isIpv4(high, low);
    }

    /** Returns the IPv4 address. The result is meaningless if {@link #isIpv4} is false. */
    public int ipv4() {
        return (int) low;
    }

    /** Reads an identifier. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static Gid parse(MemorySegment s, long at) {
        return new Gid(Wire.u64(s, at), Wire.u64(s, at + 8));
    }

    /** Writes all {@link #LENGTH} bytes of this identifier. */
    public void emit(MemorySegment s, long at) {
        Wire.u64(s, at, high);
        Wire.u64(s, at + 8, low);
    }

    /** Returns the address as text: dotted IPv4, or IPv6 in the canonical form of RFC 5952. */
    @Override
    public String toString() {
        return toString(high, low);
    }

    /** Returns the same text as {@link #toString()} for an address held as two numbers. */
    public static String toString(long high, long low) {
        if (Frame.isIpv4(high, low)) {
            int v4 = (int) low;
            return (v4 >>> 24) + "." + (v4 >>> 16 & 0xff) + "." + (v4 >>> 8 & 0xff) + "." + (v4 & 0xff);
        }
        int runStart = -1;
        int runLength = 1;
        for (int i = 0; i < 8; i++) {
            int end = i;
            while (end < 8 && group(high, low, end) == 0) {
                end++;
            }
            if (end - i > runLength) {
                runStart = i;
                runLength = end - i;
            }
        }
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < 8; i++) {
            if (i == runStart) {
                text.append("::");
                i += runLength - 1;
                continue;
            }
            if (i > 0 && i != runStart + runLength) {
                text.append(':');
            }
            text.append(Integer.toHexString(group(high, low, i)));
        }
        return text.toString();
    }

    private static int group(long high, long low, int index) {
        long half = index < 4 ? high : low;
        return (int) (half >>> 48 - 16 * (index & 3)) & 0xffff;
    }
}
