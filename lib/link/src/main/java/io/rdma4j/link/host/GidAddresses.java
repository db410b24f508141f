package io.rdma4j.link.host;

import io.rdma4j.value.Gid;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/**
 * Converts between IP addresses and GID form: sixteen bytes as two longs in network byte order, IPv4 as {@code
 * ::ffff:a.b.c.d}.
 */
public final class GidAddresses {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

    private GidAddresses() {}

    /** Returns the upper half of the GID form of {@code address}. */
    public static long high(InetAddress address) {
        return address instanceof Inet4Address ? 0 : (long) LONG.get(address.getAddress(), 0);
    }

    /** Returns the lower half of the GID form of {@code address}. */
    public static long low(InetAddress address) {
        byte[] bytes = address.getAddress();
        return address instanceof Inet4Address ? Gid.ipv4Low((int) INT.get(bytes, 0)) : (long) LONG.get(bytes, 8);
    }

    /** Returns the interface index of a scoped address, otherwise 0. */
    public static int scope(InetAddress address) {
        return address instanceof Inet6Address v6 ? v6.getScopeId() : 0;
    }

    /** Returns whether an address in GID form is an IPv6 link-local one ({@code fe80::/10}). */
    public static boolean isLinkLocal(long high) {
        return (high & 0xffc0_0000_0000_0000L) == 0xfe80_0000_0000_0000L;
    }

    /**
     * Returns the address for a GID form.
     *
     * @param scope interface index of an IPv6 address, or 0
     */
    public static InetAddress address(long high, long low, int scope) {
        try {
            if (Gid.isIpv4(high, low)) {
                byte[] bytes = new byte[4];
                INT.set(bytes, 0, (int) low);
                return InetAddress.getByAddress(bytes);
            }
            byte[] bytes = new byte[16];
            LONG.set(bytes, 0, high);
            LONG.set(bytes, 8, low);
            return scope == 0 ? InetAddress.getByAddress(bytes) : Inet6Address.getByAddress(null, bytes, scope);
        } catch (UnknownHostException e) {
            throw new AssertionError("an address of 4 or 16 bytes is always known", e);
        }
    }
}
