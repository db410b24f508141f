package io.rdma4j.soft.cm;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.cm.host.RouteLookup;
import io.rdma4j.cm.host.SystemFile;
import io.rdma4j.cm.spi.ConnectionExplanations;
import io.rdma4j.cm.spi.LocalAddresses;
import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.link.host.Interfaces;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.DeviceChoice;
import io.rdma4j.wire.cm.IpCmHeader;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The addresses of one identifier: its local address, its peer, and its device. */
final class IdAddresses {
    /** The default for IPv6 wildcards: Linux's {@code net.ipv6.bindv6only}. */
    private static final boolean IPV6_ONLY = readIpv6Only();

    private final CmService service;
    private final PortSpace portSpace;
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress peer;
    private volatile @Nullable LocalEndpoint localEndpoint;
    private PortTable.@Nullable Hold hold;
    private boolean reuse;
    private @Nullable Boolean familyOnly;

    IdAddresses(CmService service, PortSpace portSpace) {
        this.service = service;
        this.portSpace = portSpace;
    }

    @Nullable
    InetSocketAddress local() {
        return local;
    }

    @Nullable
    InetSocketAddress peer() {
        return peer;
    }

    @Nullable
    LocalEndpoint localEndpoint() {
        return localEndpoint;
    }

    InetSocketAddress requireLocal() {
        return present(local);
    }

    InetSocketAddress requirePeer() {
        return present(peer);
    }

    LocalEndpoint requireLocalEndpoint() {
        return present(localEndpoint);
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("an identifier in this state has addresses");
        }
        return value;
    }

    PortTable.@Nullable Hold hold() {
        return hold;
    }

    void reuse(boolean value) {
        reuse = value;
        updateHold();
    }

    void familyOnly(boolean value) {
        familyOnly = value;
        updateHold();
    }

    private void updateHold() {
        PortTable.Hold current = hold;
        if (current != null) {
            service.ports().options(current, reuse, isFamilyOnly());
        }
    }

    /**
     * Returns whether a wildcard does not include the other family: always for IPv4; for IPv6 by the application's choice,
     * otherwise by the system's setting.
     */
    boolean isFamilyOnly() {
        InetSocketAddress bound = local;
        return isFamilyOnly(bound == null ? null : bound.getAddress());
    }

    private boolean isFamilyOnly(@Nullable InetAddress address) {
        Boolean chosen = familyOnly;
        return chosen != null ? chosen : address instanceof Inet4Address || address != null && IPV6_ONLY;
    }

    private static boolean readIpv6Only() {
        try {
            return SystemFile.read(Path.of("/proc/sys/net/ipv6/bindv6only")).equals("1");
        } catch (IOException noSuchSetting) {
            return false;
        }
    }

    void bind(InetSocketAddress wanted) {
        InetAddress address = wanted.getAddress();
        requireScope("rdma_bind_addr", address);
        LocalEndpoint at = null;
        if (!address.isAnyLocalAddress()) {
            at = endpointAt("rdma_bind_addr", address);
        }
        PortTable.Hold reserved = service.ports().reserve(portSpace, wanted, reuse, isFamilyOnly(address));
        hold = reserved;
        local = reserved.local;
        localEndpoint = at;
    }

    /** Makes the addresses of a bound wildcard ready for listening. An identifier that resolves needs only one address. */
    void attachWildcard() {
        InetAddress bound = requireLocal().getAddress();
        if (bound.isAnyLocalAddress()) {
            service.endpoints().attachAll(DeviceChoice.current(), bound, isFamilyOnly());
        }
    }

    private LocalEndpoint endpointAt(String operation, InetAddress address) {
        LocalEndpoint at = service.endpoints().attach(address);
        if (at == null) {
            throw LocalAddresses.refusal(
                    operation,
                    address,
                    isOfThisHost(address),
                    "Use an address of this host whose network interface is up; `ip address` lists them");
        }
        return at;
    }

    private boolean isOfThisHost(InetAddress address) {
        try {
            InterfaceView link = service.devices().host().recent(address);
            return link != null && link.isUp();
        } catch (SocketException unknown) {
            return true;
        }
    }

    private static void requireScope(String operation, InetAddress address) {
        if (address instanceof Inet6Address six && six.isLinkLocalAddress() && six.getScopeId() == 0) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    "the link-local address " + AddressText.of(address) + " does not specify its link",
                    "Add the network interface, as in " + AddressText.of(address) + "%eth0");
        }
    }

    /**
     * Finds the device for a destination, and binds to its address first if necessary.
     *
     * @param routeSource the address of this host from which the destination is reached, or null if it is unknown
     * @return false if no device has the address of this host from which the destination is reached
     */
    boolean resolve(
            @Nullable InetSocketAddress source, InetSocketAddress destination, @Nullable InetAddress routeSource) {
        String operation = "rdma_resolve_addr";
        InetAddress target = destination.getAddress();
        InetSocketAddress wanted = local != null ? local : source;
        if (wanted != null && wanted.getAddress() instanceof Inet4Address != target instanceof Inet4Address) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    "the local address " + AddressText.of(wanted.getAddress()) + " and the destination "
                            + AddressText.of(target) + " are of different address families",
                    "Use two IPv4 or two IPv6 addresses");
        }
        InetAddress named = target;
        target = withScope(target, wanted);
        requireScope(operation, target);
        InetAddress from = wanted != null && !wanted.getAddress().isAnyLocalAddress() ? wanted.getAddress() : null;
        if (local == null && from != null) {
            LocalEndpoint _ = endpointAt(operation, from); // as in Linux, before the route is looked up
        }
        InetAddress route = routeSource != null && target.equals(named)
                ? routeSource
                : service.devices().host().sourceFor(operation, from, target);
        peer = new InetSocketAddress(target, destination.getPort());
        if (local == null) {
            bind(new InetSocketAddress(
                    from != null ? from : wildcardOf(target), source == null ? 0 : source.getPort()));
        }
        if (localEndpoint == null) {
            LocalEndpoint at = service.endpoints().attach(route);
            if (at == null) {
                unresolved = ConnectionExplanations.noDevice(AddressText.of(route), AddressText.of(target));
                return false;
            }
            localEndpoint = at;
            local = new InetSocketAddress(at.address(), requireLocal().getPort());
        }
        if (!target.equals(route)) {
            service.endpoints().attachVacant(target);
        }
        return true;
    }

    private String unresolved = "";

    /** Returns the reason why {@link #resolve} found no device. */
    String unresolvedReason() {
        return unresolved;
    }

    private static InetAddress wildcardOf(InetAddress target) {
        return target instanceof Inet4Address ? RouteLookup.anyIpv4() : RouteLookup.anyIpv6();
    }

    /** Returns a link-local destination, on the link of the source if it specifies none. */
    private static InetAddress withScope(InetAddress target, @Nullable InetSocketAddress source) {
        boolean isOnNoLink = target instanceof Inet6Address six && six.getScopeId() == 0;
        return isOnNoLink
                        && source != null
                        && source.getAddress() instanceof Inet6Address from
                        && from.getScopeId() != 0
                ? onLink(target, from.getScopeId())
                : target;
    }

    /** Returns an address with the scope of a link if it is link-local. */
    private static InetAddress onLink(InetAddress address, int scope) {
        if (!(address instanceof Inet6Address six) || !six.isLinkLocalAddress()) {
            return address;
        }
        try {
            return Inet6Address.getByAddress(null, six.getAddress(), scope);
        } catch (UnknownHostException impossible) {
            throw new AssertionError("16 bytes are always an address", impossible);
        }
    }

    /** Sets the addresses of a connection that a peer requested. */
    void connected(LocalEndpoint at, IpCmHeader header, int localPort, int scope) {
        localEndpoint = at;
        local = new InetSocketAddress(at.address(), localPort);
        InetAddress address = header.source().toInetAddress();
        peer = new InetSocketAddress(scope == 0 ? address : onLink(address, scope), header.sourcePort());
    }

    Gid peerGid() {
        return Gid.of(requirePeer().getAddress());
    }

    /** Returns the interface index of a link-local peer, otherwise 0. */
    int peerScope() {
        return Interfaces.scope(requirePeer().getAddress());
    }

    /** Releases the port. */
    void close() {
        PortTable.Hold held = hold;
        hold = null;
        if (held != null) {
            service.ports().release(held);
        }
    }
}
