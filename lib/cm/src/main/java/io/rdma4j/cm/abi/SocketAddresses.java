package io.rdma4j.cm.abi;

import io.rdma4j.value.Gid;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** Reads and writes socket addresses: {@code sockaddr_in}, {@code sockaddr_in6} and {@code sockaddr_ib}. */
public final class SocketAddresses {
    private static final int IPV4 = 2;
    private static final int IPV6 = 10;
    private static final int INFINIBAND = 27;

    private static final int IPV4_BYTES = 16;
    private static final int IPV6_BYTES = 28;
    private static final int INFINIBAND_BYTES = 48;

    private static final int PORT = 2;
    private static final int IPV4_ADDRESS = 4;
    private static final int IPV6_ADDRESS = 8;
    private static final int IPV6_SCOPE = 24;
    private static final int INFINIBAND_PARTITION_KEY = 2;
    private static final int INFINIBAND_ADDRESS = 8;
    private static final int INFINIBAND_SERVICE = 24;

    private static final int DEFAULT_PARTITION = 0xffff;

    private SocketAddresses() {}

    /** Writes an address of either family into zeroed memory; returns the size of its structure in bytes. */
    public static int write(MemorySegment to, long at, InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        Fields.putBigEndianShort(to, at + PORT, address.getPort());
        if (ip instanceof Inet6Address six) {
            Fields.putShort(to, at, IPV6);
            Fields.putBytes(to, at + IPV6_ADDRESS, six.getAddress());
            Fields.putInt(to, at + IPV6_SCOPE, six.getScopeId());
            return IPV6_BYTES;
        }
        Fields.putShort(to, at, IPV4);
        Fields.putBytes(to, at + IPV4_ADDRESS, ip.getAddress());
        return IPV4_BYTES;
    }

    /** Writes a GID of the default partition into zeroed memory; returns the size of its structure in bytes. */
    public static int write(MemorySegment to, long at, Gid gid) {
        Fields.putShort(to, at, INFINIBAND);
        Fields.putBigEndianShort(to, at + INFINIBAND_PARTITION_KEY, DEFAULT_PARTITION);
        Fields.putGid(to, at + INFINIBAND_ADDRESS, gid);
        return INFINIBAND_BYTES;
    }

    /** Writes a GID of the default partition with a service ID, in the format of a response about GIDs. */
    public static int write(MemorySegment to, long at, Gid gid, long serviceId) {
        Fields.putBigEndianLong(to, at + INFINIBAND_SERVICE, serviceId);
        return write(to, at, gid);
    }

    /** Writes only the family of an unknown address; returns the size of its structure in bytes. */
    public static int writeFamily(MemorySegment to, long at, InetSocketAddress like) {
        boolean isIpv6 = like.getAddress() instanceof Inet6Address;
        Fields.putShort(to, at, isIpv6 ? IPV6 : IPV4);
        return isIpv6 ? IPV6_BYTES : IPV4_BYTES;
    }

    /** Returns the size of a socket address's structure by its family; 0 for an unknown family. */
    public static int bytesOf(MemorySegment from, long at) {
        return switch (Fields.shortAt(from, at)) {
            case IPV4 -> IPV4_BYTES;
            case IPV6 -> IPV6_BYTES;
            case INFINIBAND -> INFINIBAND_BYTES;
            default -> 0;
        };
    }

    /** Returns an IP address; null without an address or for another family. A link-local address has its scope. */
    public static @Nullable InetSocketAddress read(MemorySegment from, long at) {
        int port = Fields.bigEndianShortAt(from, at + PORT);
        return switch (Fields.shortAt(from, at)) {
            case IPV4 -> new InetSocketAddress(address(Fields.bytesAt(from, at + IPV4_ADDRESS, 4), 0), port);
            case IPV6 -> {
                byte[] bytes = Fields.bytesAt(from, at + IPV6_ADDRESS, Gid.LENGTH);
                yield new InetSocketAddress(address(bytes, Fields.intAt(from, at + IPV6_SCOPE)), port);
            }
            default -> null;
        };
    }

    private static InetAddress address(byte[] bytes, int scope) {
        try {
            InetAddress plain = InetAddress.getByAddress(bytes);
            return scope > 0 && plain.isLinkLocalAddress() && bytes.length == Gid.LENGTH
                    ? Inet6Address.getByAddress(null, bytes, scope)
                    : plain;
        } catch (UnknownHostException impossible) {
            throw new AssertionError("4 and 16 bytes are always an address", impossible);
        }
    }

    /** Returns the GID of a {@code sockaddr_ib}, or null for another structure. */
    public static @Nullable Gid readGid(MemorySegment from, long at) {
        return Fields.shortAt(from, at) == INFINIBAND ? Fields.gidAt(from, at + INFINIBAND_ADDRESS) : null;
    }
}
