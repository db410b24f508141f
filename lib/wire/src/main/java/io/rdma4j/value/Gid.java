package io.rdma4j.value;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * A global identifier of a port: 16 bytes in network order. Over RoCEv2 it is the port's IP address, IPv4 as
 * {@code ::ffff:a.b.c.d}. C: {@code union ibv_gid}.
 *
 * @param high bytes 0 to 7 ({@code subnet_prefix})
 * @param low bytes 8 to 15 ({@code interface_id})
 */
public record Gid(long high, long low) {
    /** Sixteen zero bytes: no address, or an empty entry of a GID table. */
    public static final Gid ZERO = new Gid(0, 0);

    /** Length of a GID in bytes. */
    public static final int LENGTH = 16;

    private static final int GROUPS = 8;

    /** Returns the GID of an IP address. It does not include the scope of a link-local address. */
    public static Gid of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet4Address ? ofIpv4(bytes.getInt()) : new Gid(bytes.getLong(), bytes.getLong());
    }

    /** Returns the GID of an IPv4 address, which is a number in network byte order: 10.0.0.1 is 0x0a000001. */
    public static Gid ofIpv4(int address) {
        return new Gid(0, ipv4Low(address));
    }

    /** Returns bytes 8 to 15 of the GID of an IPv4 address. The others are zero. */
    public static long ipv4Low(int address) {
        return 0xffff_0000_0000L | address & 0xffff_ffffL;
    }

    /** Returns whether two halves are the GID of an IPv4 address. */
    public static boolean isIpv4(long high, long low) {
        return high == 0 && low >>> Integer.SIZE == 0xffff;
    }

    /** Returns whether this is the GID of an IPv4 address. */
    public boolean isIpv4() {
        return isIpv4(high, low);
    }

    /** Returns the IPv4 address as a number. It has no meaning if {@link #isIpv4()} is false. */
    public int ipv4() {
        return (int) low;
    }

    /** Returns whether this is the GID of an IPv6 link-local address. */
    public boolean isLinkLocal() {
        return high >>> 54 == 0xfe80 >>> 6;
    }

    /** Returns whether this is the GID of an IPv4 or IPv6 multicast address. C: {@code rdma_is_multicast_addr}. */
    public boolean isMulticast() {
        return isIpv4() ? (int) low >>> 28 == 0xe : high >>> 56 == 0xff;
    }

    /** Returns the IP address of this GID. A link-local address has no scope. */
    public InetAddress toInetAddress() {
        byte[] bytes = isIpv4()
                ? ByteBuffer.allocate(Integer.BYTES).putInt(ipv4()).array()
                : ByteBuffer.allocate(LENGTH).putLong(high).putLong(low).array();
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException impossible) {
            throw new AssertionError("4 and 16 bytes are always an address", impossible);
        }
    }

    /** Returns all eight groups with four hexadecimal digits each, as {@code ibv_devinfo} prints them. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < GROUPS; i++) {
            text.append(i == 0 ? "" : ":").append("%04x".formatted(group(i)));
        }
        return text.toString();
    }

    /** Returns the IP address as text: IPv4 with dots, IPv6 in the canonical form of RFC 5952, such as {@code fe80::1}. */
    public String addressText() {
        return isIpv4() ? ipv4Text() : ipv6Text();
    }

    private String ipv4Text() {
        int address = ipv4();
        return (address >>> 24) + "." + (address >>> 16 & 0xff) + "." + (address >>> 8 & 0xff) + "." + (address & 0xff);
    }

    private String ipv6Text() {
        int runStart = -1;
        int runLength = 1;
        for (int i = 0; i < GROUPS; i++) {
            int end = i;
            while (end < GROUPS && group(end) == 0) {
                end++;
            }
            if (end - i > runLength) {
                runStart = i;
                runLength = end - i;
            }
        }
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < GROUPS; i++) {
            if (i == runStart) {
                text.append("::");
                i += runLength - 1;
                continue;
            }
            if (i > 0 && i != runStart + runLength) {
                text.append(':');
            }
            text.append(Integer.toHexString(group(i)));
        }
        return text.toString();
    }

    private int group(int index) {
        long half = index < GROUPS / 2 ? high : low;
        return (int) (half >>> 48 - 16 * (index & 3)) & 0xffff;
    }
}
