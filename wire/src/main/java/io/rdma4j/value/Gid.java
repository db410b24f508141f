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
    /** Sixteen zero bytes: an empty entry of a GID table. */
    public static final Gid ZERO = new Gid(0, 0);

    /** Length of a GID in bytes. */
    public static final int LENGTH = 16;

    /** Returns the GID of an IP address. It does not include the scope of a link-local address. */
    public static Gid of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet4Address
                ? new Gid(0, 0xffff_0000_0000L | (bytes.getInt() & 0xffff_ffffL))
                : new Gid(bytes.getLong(), bytes.getLong());
    }

    /** Returns whether this is the GID of an IPv4 address. */
    public boolean isIpv4() {
        return high == 0 && low >>> 32 == 0xffff;
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
                ? ByteBuffer.allocate(4).putInt((int) low).array()
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
        for (int i = 0; i < 8; i++) {
            long half = i < 4 ? high : low;
            int group = (int) (half >>> (48 - 16 * (i & 3))) & 0xffff;
            text.append(i == 0 ? "" : ":").append("%04x".formatted(group));
        }
        return text.toString();
    }
}
