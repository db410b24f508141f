package io.rdma4j.sockets.io;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.UnsupportedAddressTypeException;

/** The address family of a socket. An IPv6 socket also uses IPv4 addresses, like Java's IPv6 sockets. */
public enum SocketFamily {
    /** IPv4 only. */
    IPV4("0.0.0.0"),
    /** IPv6 and IPv4. */
    IPV6("::");

    private final InetAddress wildcard;

    SocketFamily(String wildcard) {
        this.wildcard = InetAddress.ofLiteral(wildcard);
    }

    /** The result of {@link #ofJvm}, determined when it is first needed. */
    private static final class OfJvm {
        static final SocketFamily FAMILY = find();

        private static SocketFamily find() {
            if (Boolean.getBoolean("java.net.preferIPv4Stack")) {
                return IPV4;
            }
            try (DatagramChannel _ = DatagramChannel.open(StandardProtocolFamily.INET6)) {
                return IPV6;
            } catch (UnsupportedOperationException noIpv6) {
                return IPV4; // the kernel has no IPv6
            } catch (IOException unrelated) {
                return IPV6;
            }
        }
    }

    /**
     * Returns the family of a socket for which the program specifies none: IPv4 if Java or the host does not use IPv6,
     * otherwise IPv6.
     */
    public static SocketFamily ofJvm() {
        return OfJvm.FAMILY;
    }

    /**
     * Returns the socket family of a protocol family.
     *
     * @throws UnsupportedOperationException if it is neither IPv4 nor IPv6
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

    /** Returns the wildcard address with port 0. */
    public InetSocketAddress any() {
        return new InetSocketAddress(wildcard, 0);
    }

    /**
     * Returns the address to bind a socket of this family to; a wildcard becomes the wildcard of the family.
     *
     * @throws UnsupportedAddressTypeException if it is an IPv6 address and the family is IPv4
     */
    public InetSocketAddress local(InetSocketAddress address) {
        InetSocketAddress local = checked(address);
        return local.getAddress().isAnyLocalAddress() ? new InetSocketAddress(wildcard, local.getPort()) : local;
    }

    /**
     * Returns the address to connect a socket of this family to, like {@link #reachable}.
     *
     * @throws UnknownHostException if it is unresolved
     * @throws UnsupportedAddressTypeException if it is an IPv6 address and the family is IPv4
     */
    public InetSocketAddress remote(InetSocketAddress address) throws UnknownHostException {
        if (address.isUnresolved()) {
            throw new UnknownHostException(address.getHostString());
        }
        return reachable(address);
    }

    /**
     * Returns the address to connect a socket of this family to, for a resolved address. A wildcard becomes the
     * loopback address of the wildcard's family, independent of the family that the JVM prefers.
     *
     * @throws UnsupportedAddressTypeException if it is an IPv6 address and the family is IPv4
     */
    public InetSocketAddress reachable(InetSocketAddress address) {
        InetSocketAddress to = checked(address);
        return to.getAddress().isAnyLocalAddress() ? new InetSocketAddress(hostOf(to.getAddress()), to.getPort()) : to;
    }

    /** Returns the address of the host: the loopback address for a wildcard. */
    static InetAddress hostOf(InetAddress address) {
        return address.isAnyLocalAddress()
                ? InetAddress.ofLiteral(address instanceof Inet4Address ? "127.0.0.1" : "::1")
                : address;
    }

    /**
     * Returns the address as the operating system reports it. The result has no host name, and has a scope only if it
     * is link-local.
     */
    static InetSocketAddress withoutName(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        int scope = host instanceof Inet6Address scoped && host.isLinkLocalAddress() ? scoped.getScopeId() : 0;
        try {
            InetAddress unnamed = scope == 0
                    ? InetAddress.getByAddress(host.getAddress())
                    : Inet6Address.getByAddress(null, host.getAddress(), scope);
            return new InetSocketAddress(unnamed, address.getPort());
        } catch (UnknownHostException impossible) {
            throw new AssertionError("4 and 16 bytes are always an address", impossible);
        }
    }

    private InetSocketAddress checked(InetSocketAddress address) {
        if (this == IPV4 && !(address.getAddress() instanceof Inet4Address)) {
            throw new UnsupportedAddressTypeException();
        }
        return address;
    }
}
