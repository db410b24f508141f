package io.rdma4j.sockets.io;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.UnsupportedAddressTypeException;

/** Which addresses a socket takes. One of IPv6 takes those of IPv4 too, as those of Java do. */
public enum SocketFamily {
    /** IPv4 only. */
    IPV4("0.0.0.0"),
    /** IPv6 and IPv4. */
    IPV6("::");

    private final InetAddress wildcard;

    SocketFamily(String wildcard) {
        this.wildcard = InetAddress.ofLiteral(wildcard);
    }

    /**
     * The family that java.net means.
     *
     * @throws UnsupportedOperationException if it is neither that of IPv4 nor that of IPv6
     */
    public static SocketFamily of(ProtocolFamily family) {
        if (family == StandardProtocolFamily.INET) {
            return IPV4;
        }
        if (family == StandardProtocolFamily.INET6) {
            return IPV6;
        }
        throw new UnsupportedOperationException("Protocol family " + family.name() + " not supported");
    }

    /** Any address and port. */
    public InetSocketAddress any() {
        return new InetSocketAddress(wildcard, 0);
    }

    /**
     * The address as a socket of this family is bound to it: every wildcard is the family's.
     *
     * @throws UnsupportedAddressTypeException if it is an IPv6 address and the family IPv4
     */
    public InetSocketAddress local(InetSocketAddress address) {
        return address.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress(wildcard, address.getPort())
                : checked(address);
    }

    /**
     * The address as a socket of this family connects to it: {@link #reachable}.
     *
     * @throws UnknownHostException if it is unresolved
     * @throws UnsupportedAddressTypeException if it is an IPv6 address and the family IPv4
     */
    public InetSocketAddress remote(InetSocketAddress address) throws UnknownHostException {
        if (address.isUnresolved()) {
            throw new UnknownHostException(address.getHostString());
        }
        return reachable(address);
    }

    /**
     * A resolved address as a socket of this family connects to it. A wildcard stands for the loopback address of the
     * wildcard's family, whichever family the JVM prefers.
     *
     * @throws UnsupportedAddressTypeException if it is an IPv6 address and the family IPv4
     */
    public InetSocketAddress reachable(InetSocketAddress address) {
        InetSocketAddress to = checked(address);
        return to.getAddress().isAnyLocalAddress() ? new InetSocketAddress(hostOf(to.getAddress()), to.getPort()) : to;
    }

    /** The host that an address stands for: of a wildcard, this one. */
    static InetAddress hostOf(InetAddress address) {
        return address.isAnyLocalAddress()
                ? InetAddress.ofLiteral(address instanceof Inet4Address ? "127.0.0.1" : "::1")
                : address;
    }

    private InetSocketAddress checked(InetSocketAddress address) {
        if (this == IPV4 && !(address.getAddress() instanceof Inet4Address)) {
            throw new UnsupportedAddressTypeException();
        }
        return address;
    }
}
