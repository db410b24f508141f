package io.rdma4j.sockets.io;

import io.rdma4j.sockets.datagram.DatagramAddress;
import io.rdma4j.value.Gid;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;

/** Conversions between addresses of the protocol and addresses of java.net. */
final class DatagramAddresses {
    private DatagramAddresses() {}

    static DatagramAddress of(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        Gid gid = Gid.of(host);
        int scope = host instanceof Inet6Address scoped && gid.isLinkLocal() ? scoped.getScopeId() : 0;
        return new DatagramAddress(gid.high(), gid.low(), scope, address.getPort());
    }

    static Gid gid(DatagramAddress address) {
        return new Gid(address.high(), address.low());
    }

    static InetSocketAddress socketAddress(DatagramAddress address) {
        InetAddress host = gid(address).toInetAddress();
        try {
            return new InetSocketAddress(
                    address.scope() == 0 ? host : Inet6Address.getByAddress(null, host.getAddress(), address.scope()),
                    address.port());
        } catch (UnknownHostException impossible) {
            throw new AssertionError("16 bytes are always an address", impossible);
        }
    }

    /** Returns the address to send to: for a wildcard, the loopback address. */
    static InetSocketAddress reachable(InetSocketAddress remote) throws SocketException {
        InetAddress host = remote.getAddress();
        if (host == null || remote.getPort() == 0 || host.isMulticastAddress()) {
            throw new SocketException(
                    "Invalid argument (" + remote + " is not an address of a datagram RDMA socket: it must be"
                            + " resolved, have a port, and identify one host)");
        }
        return host.isAnyLocalAddress() ? new InetSocketAddress(SocketFamily.hostOf(host), remote.getPort()) : remote;
    }
}
