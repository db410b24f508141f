package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.internal.Groups;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.ByteOrder;

/** Multicast socket options (ip(7), ipv6(7)). */
final class Multicast {
    /** {@code struct ip_mreqn}: group, local address, interface. */
    private static final int IPV4_REQUEST_BYTES = 12;
    /** {@code struct ipv6_mreq}: group, interface. */
    private static final int IPV6_REQUEST_BYTES = 20;

    private static final ValueLayout.OfInt INT_BE = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private Multicast() {}

    /**
     * Selects the interface by which a socket sends to multicast groups, and the hop limit that rdma_rxe uses. The
     * frames also reach sockets of this host, which is Linux's default.
     */
    static void sendFrom(Socket socket, NetworkInterface network, boolean ipv4) throws IOException {
        if (ipv4) {
            socket.require(
                    Posix.IPPROTO_IP, Posix.IP_MULTICAST_IF, ipv4Request(0, network.getIndex()), "IP_MULTICAST_IF");
            socket.require(Posix.IPPROTO_IP, Posix.IP_MULTICAST_TTL, Groups.HOPS, "IP_MULTICAST_TTL");
        } else {
            socket.require(Posix.IPPROTO_IPV6, Posix.IPV6_MULTICAST_IF, network.getIndex(), "IPV6_MULTICAST_IF");
            socket.require(Posix.IPPROTO_IPV6, Posix.IPV6_MULTICAST_HOPS, Groups.HOPS, "IPV6_MULTICAST_HOPS");
        }
    }

    /**
     * Joins a multicast group on an interface. The socket receives only frames that arrive on that interface.
     *
     * @return leaves the group
     */
    static Runnable join(Socket socket, InetAddress group, NetworkInterface network) throws IOException {
        int index = network.getIndex();
        if (group instanceof Inet4Address) {
            socket.require(Posix.IPPROTO_IP, Posix.IP_MULTICAST_ALL, 0, "IP_MULTICAST_ALL");
            MemorySegment request = ipv4Request((int) GidAddresses.low(group), index);
            socket.require(Posix.IPPROTO_IP, Posix.IP_ADD_MEMBERSHIP, request, "IP_ADD_MEMBERSHIP");
            return () -> leave(socket, Posix.IPPROTO_IP, Posix.IP_DROP_MEMBERSHIP, request);
        }
        // A membership does not bind an IPv6 socket to its interface. Before Linux 5.7 this option requires a
        // privilege; without it, the socket receives the group on all interfaces where this host is a member.
        boolean _ = socket.option(Posix.SOL_SOCKET, Posix.SO_BINDTOIFINDEX, index);
        MemorySegment request = Arena.ofAuto().allocate(IPV6_REQUEST_BYTES, 8);
        MemorySegment.copy(MemorySegment.ofArray(group.getAddress()), 0, request, 0, 16);
        request.set(JAVA_INT, 16, index);
        socket.require(Posix.IPPROTO_IPV6, Posix.IPV6_JOIN_GROUP, request, "IPV6_JOIN_GROUP");
        return () -> leave(socket, Posix.IPPROTO_IPV6, Posix.IPV6_LEAVE_GROUP, request);
    }

    /** Leaves the group. This fails only if the interface was removed, which has ended the membership. */
    private static void leave(Socket socket, int level, int option, MemorySegment request) {
        var _ = Posix.setsockopt(socket.errno, socket.fd, level, option, request);
    }

    private static MemorySegment ipv4Request(int group, int interfaceIndex) {
        MemorySegment request = Arena.ofAuto().allocate(IPV4_REQUEST_BYTES, 8);
        request.set(INT_BE, 0, group);
        request.set(JAVA_INT, 8, interfaceIndex);
        return request;
    }
}
