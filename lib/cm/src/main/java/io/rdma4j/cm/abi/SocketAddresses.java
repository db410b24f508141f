package io.rdma4j.cm.abi;

import io.rdma4j.cm.abi.CmStructures.InfinibandAddress;
import io.rdma4j.cm.abi.CmStructures.Ipv4Address;
import io.rdma4j.cm.abi.CmStructures.Ipv6Address;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.abi.Fields;
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

    private static final int DEFAULT_PARTITION = 0xffff;

    private SocketAddresses() {}

    /** Writes an address of either family into zeroed memory; returns the size of its structure in bytes. */
    public static int write(MemorySegment to, long at, InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        Fields.putBigEndianShort(to, at + Ipv4Address.PORT, address.getPort());
        if (ip instanceof Inet6Address six) {
            Fields.putShort(to, at, IPV6);
            Fields.putBytes(to, at + Ipv6Address.ADDRESS, six.getAddress());
            Fields.putInt(to, at + Ipv6Address.SCOPE, six.getScopeId());
            return Ipv6Address.BYTES;
        }
        Fields.putShort(to, at, IPV4);
        Fields.putBytes(to, at + Ipv4Address.ADDRESS, ip.getAddress());
        return Ipv4Address.BYTES;
    }

    /** Writes a GID of the default partition into zeroed memory; returns the size of its structure in bytes. */
    public static int write(MemorySegment to, long at, Gid gid) {
        Fields.putShort(to, at, INFINIBAND);
        Fields.putBigEndianShort(to, at + InfinibandAddress.PARTITION_KEY, DEFAULT_PARTITION);
        Fields.putGid(to, at + InfinibandAddress.ADDRESS, gid);
        return InfinibandAddress.BYTES;
    }

    /** Writes a GID of the default partition with a service ID, in the format of a response about GIDs. */
    public static int write(MemorySegment to, long at, Gid gid, long serviceId) {
        Fields.putBigEndianLong(to, at + InfinibandAddress.SERVICE, serviceId);
        return write(to, at, gid);
    }

    /** Writes only the family of an unknown address; returns the size of its structure in bytes. */
    public static int writeFamily(MemorySegment to, long at, InetSocketAddress like) {
        boolean isIpv6 = like.getAddress() instanceof Inet6Address;
        Fields.putShort(to, at, isIpv6 ? IPV6 : IPV4);
        return isIpv6 ? Ipv6Address.BYTES : Ipv4Address.BYTES;
    }

    /** Returns the size of a socket address's structure by its family; 0 for an unknown family. */
    public static int bytesOf(MemorySegment from, long at) {
        return switch (Fields.shortAt(from, at)) {
            case IPV4 -> Ipv4Address.BYTES;
            case IPV6 -> Ipv6Address.BYTES;
            case INFINIBAND -> InfinibandAddress.BYTES;
            default -> 0;
        };
    }

    /** Returns an IP address; null without an address or for another family. A link-local address has its scope. */
    public static @Nullable InetSocketAddress read(MemorySegment from, long at) {
        int port = Fields.bigEndianShortAt(from, at + Ipv4Address.PORT);
        return switch (Fields.shortAt(from, at)) {
            case IPV4 -> new InetSocketAddress(address(Fields.bytesAt(from, at + Ipv4Address.ADDRESS, 4), 0), port);
            case IPV6 -> {
                byte[] bytes = Fields.bytesAt(from, at + Ipv6Address.ADDRESS, Gid.LENGTH);
                yield new InetSocketAddress(address(bytes, Fields.intAt(from, at + Ipv6Address.SCOPE)), port);
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
        return Fields.shortAt(from, at) == INFINIBAND ? Fields.gidAt(from, at + InfinibandAddress.ADDRESS) : null;
    }
}
