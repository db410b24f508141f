package io.rdma4j.cm;

import io.rdma4j.cm.host.RouteLookup;
import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.cm.spi.ServiceLookup;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The addresses, port space and queue pair type that a name and a service resolve to. C: {@code struct rdma_addrinfo}.
 * Immutable.
 *
 * <p>A lookup returns one result, never a list: librdmacm also uses only the first result of the resolver. Native
 * InfiniBand addresses ({@code AF_IB}), the address service {@code ibacm} and service records of a subnet manager are
 * not supported. The result therefore contains no route and no connection data.
 *
 * @param flags {@link Flag#PASSIVE} for a passive result, otherwise none
 * @param queuePairType queue pair type
 * @param portSpace port space
 * @param source local address to which a passive endpoint binds, or from which an active endpoint connects; null for
 *     any
 * @param destination the peer of an active endpoint; null for a passive endpoint unless the hints specify it
 */
public record AddressInformation(
        Set<Flag> flags,
        QueuePairType queuePairType,
        PortSpace portSpace,
        @Nullable InetSocketAddress source,
        @Nullable InetSocketAddress destination) {
    private static final String LOOK_UP = "rdma_getaddrinfo";

    /** The purpose and options of a lookup. C: {@code RAI_…}. */
    public enum Flag {
        /** For a listening endpoint: the address becomes the {@link #source}. C: {@code RAI_PASSIVE}. */
        PASSIVE(1),
        /** The node is an address and not a name; the resolver is not used. C: {@code RAI_NUMERICHOST}. */
        NUMERIC_HOST(2),
        /** Requests no route. Has no effect, since the result never contains a route. C: {@code RAI_NOROUTE}. */
        NO_ROUTE(4),
        /**
         * The family of the hints determines how to parse the node. In C this flag only affects {@code AF_IB}; other
         * families apply with and without it. It therefore has no effect. C: {@code RAI_FAMILY}.
         */
        FAMILY(8),
        /**
         * Queries the subnet administrator of an InfiniBand network for a service. RoCE networks have no subnet
         * administrator, so a lookup with this flag fails with {@code EOPNOTSUPP}. C: {@code RAI_SA}.
         */
        SUBNET_ADMINISTRATOR(16),
        /** Uses the resolver. Has no effect, since a lookup always uses it. C: {@code RAI_DNS}. */
        DNS(32);

        private final int bit;

        Flag(int bit) {
            this.bit = bit;
        }

        /** Returns the bit in {@code ai_flags}. */
        public int bit() {
            return bit;
        }
    }

    /**
     * Criteria for a lookup. C: the {@code hints} of {@code rdma_getaddrinfo}. Immutable.
     *
     * @param flags purpose and options
     * @param family the only address family, IPv4 or IPv6; null for either
     * @param queuePairType queue pair type, or null to derive it from the port space
     * @param portSpace port space, or null to derive it from the queue pair type
     * @param source local address for the result if the lookup does not find one
     * @param destination the peer if neither node nor service is given
     */
    public record Hints(
            Set<Flag> flags,
            @Nullable StandardProtocolFamily family,
            @Nullable QueuePairType queuePairType,
            @Nullable PortSpace portSpace,
            @Nullable InetSocketAddress source,
            @Nullable InetSocketAddress destination) {
        /** Copies the flags. */
        public Hints {
            flags = Set.copyOf(flags);
        }

        /** Returns hints that have only flags and a port space. */
        public static Hints of(PortSpace portSpace, Flag... flags) {
            EnumSet<Flag> set = EnumSet.noneOf(Flag.class);
            set.addAll(Set.of(flags));
            return new Hints(set, null, null, portSpace, null, null);
        }

        /** Returns these hints with the given family. */
        public Hints withFamily(StandardProtocolFamily value) {
            return new Hints(flags, value, queuePairType, portSpace, source, destination);
        }

        /** Returns these hints with the given queue pair type. */
        public Hints withQueuePairType(@Nullable QueuePairType value) {
            return new Hints(flags, family, value, portSpace, source, destination);
        }

        /** Returns these hints with the given local address. */
        public Hints withSource(@Nullable InetSocketAddress value) {
            return new Hints(flags, family, queuePairType, portSpace, value, destination);
        }

        /** Returns these hints with the given peer. */
        public Hints withDestination(@Nullable InetSocketAddress value) {
            return new Hints(flags, family, queuePairType, portSpace, source, value);
        }

        private boolean has(Flag flag) {
            return flags.contains(flag);
        }
    }

    /** Copies the flags. */
    public AddressInformation {
        flags = Set.copyOf(flags);
    }

    /** Returns whether the result is for a listening endpoint. */
    public boolean isPassive() {
        return flags.contains(Flag.PASSIVE);
    }

    /**
     * Looks up a node and a service for an active, reliable connection. Blocks while the resolver is queried. C: {@code
     * rdma_getaddrinfo} without hints.
     *
     * @param node name or address; null for the loopback address
     * @param service decimal port number, or name of a service of the system; null for 0. See {@link ServiceLookup}
     * @throws AddressLookupException if the node has no address, or the service is neither a port number nor known
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one; {@code EINVAL} if
     *     both arguments are null
     */
    public static AddressInformation lookUp(@Nullable String node, @Nullable String service) {
        return find(node, service, null);
    }

    /**
     * Looks up a node and a service by criteria. Blocks while the resolver is queried. C: {@code rdma_getaddrinfo}.
     * Without a node and a service, the result is taken from the hints.
     *
     * @param node name or address; null for the wildcard address if passive, or the loopback address if active
     * @param service decimal port number, or name of a service of the system; null for 0. See {@link ServiceLookup}
     * @param hints criteria
     * @throws AddressLookupException if the node has no address, or the service is neither a port number nor known
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one; {@code EOPNOTSUPP}
     *     with {@link Flag#SUBNET_ADMINISTRATOR}; {@code EAFNOSUPPORT} if the family is {@code UNIX}
     */
    public static AddressInformation lookUp(@Nullable String node, @Nullable String service, Hints hints) {
        return find(node, service, hints);
    }

    static AddressInformation find(@Nullable String node, @Nullable String service, @Nullable Hints hints) {
        ConnectionManager.ofProcess().providers().requireDevices(LOOK_UP);
        if (node == null && service == null && hints == null) {
            throw CmId.invalid(LOOK_UP, "no node, no service and no hints are specified", "Specify one of them");
        }
        Hints criteria = hints == null ? new Hints(Set.of(), null, null, null, null, null) : hints;
        if (criteria.has(Flag.SUBNET_ADMINISTRATOR)) {
            throw new RdmaException(
                    LOOK_UP,
                    Errno.EOPNOTSUPP,
                    "there is no subnet administrator on RoCE",
                    "Leave SUBNET_ADMINISTRATOR out");
        }
        boolean passive = criteria.has(Flag.PASSIVE);
        QueuePairType type = criteria.queuePairType();
        PortSpace space = criteria.portSpace();
        InetSocketAddress found = null;
        if (node != null || service != null) {
            int port = service == null ? 0 : ServiceLookup.port(LOOK_UP, service, protocolOf(type, space));
            found = new InetSocketAddress(address(node, criteria, passive), port);
        }
        InetSocketAddress source = passive && found != null ? found : criteria.source();
        InetSocketAddress destination = !passive && found != null ? found : criteria.destination();
        return new AddressInformation(
                passive ? Set.of(Flag.PASSIVE) : Set.of(),
                type == null ? typeOf(space) : type,
                space == null ? spaceOf(type) : space,
                source,
                destination);
    }

    private static QueuePairType typeOf(@Nullable PortSpace space) {
        return space == null ? QueuePairType.RELIABLE_CONNECTION : space.queuePairType();
    }

    private static PortSpace spaceOf(@Nullable QueuePairType type) {
        return switch (type) {
            case UNRELIABLE_DATAGRAM -> PortSpace.UDP;
            case UNRELIABLE_CONNECTION, XRC_SEND, XRC_RECEIVE -> PortSpace.IB; // C: TCP, which cannot connect these
            case RELIABLE_CONNECTION -> PortSpace.TCP;
            case null -> PortSpace.TCP;
        };
    }

    /** Returns the protocol of the service to look up, or null for either, like {@code ucma_convert_to_ai}. */
    private static ServiceLookup.@Nullable Protocol protocolOf(
            @Nullable QueuePairType type, @Nullable PortSpace space) {
        if (type == null && (space == null || space == PortSpace.IB)) {
            return null;
        }
        boolean datagrams = type == null
                ? typeOf(space) == QueuePairType.UNRELIABLE_DATAGRAM
                : type == QueuePairType.UNRELIABLE_DATAGRAM;
        return datagrams ? ServiceLookup.Protocol.UDP : ServiceLookup.Protocol.TCP;
    }

    private static InetAddress address(@Nullable String node, Hints hints, boolean passive) {
        StandardProtocolFamily family = hints.family();
        if (family == StandardProtocolFamily.UNIX) {
            throw new RdmaException(
                    LOOK_UP, Errno.EAFNOSUPPORT, "the hints specify the family UNIX", "Use INET, INET6 or none");
        }
        if (node != null) {
            return HostLookup.first(LOOK_UP, node, family, hints.has(Flag.NUMERIC_HOST));
        }
        if (passive) {
            return family == StandardProtocolFamily.INET6 ? RouteLookup.anyIpv6() : RouteLookup.anyIpv4();
        }
        if (family == null) {
            return InetAddress.getLoopbackAddress();
        }
        return RouteLookup.loopbackOf(
                family == StandardProtocolFamily.INET6 ? RouteLookup.anyIpv6() : RouteLookup.anyIpv4());
    }
}
