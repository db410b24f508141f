package io.rdma4j.cm;

import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.cm.spi.RouteLookup;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a name and a service stand for: addresses, port space and type of queue pair. C: {@code struct rdma_addrinfo}.
 * Immutable.
 *
 * <p>There is one result, never a list: librdmacm too takes the first of the resolver. Native InfiniBand addresses
 * ({@code AF_IB}), the address service {@code ibacm} and service records of a subnet manager are not there, so there is no
 * route and there are no connection data in it.
 *
 * @param flags {@link Flag#PASSIVE} of a passive result, else none
 * @param queuePairType type of queue pair
 * @param portSpace port space
 * @param source local address: where a passive endpoint binds, or from where an active one connects; null for any
 * @param destination the peer of an active endpoint
 */
public record AddressInformation(
        Set<Flag> flags,
        QueuePairType queuePairType,
        PortSpace portSpace,
        @Nullable InetSocketAddress source,
        @Nullable InetSocketAddress destination) {
    private static final String LOOK_UP = "rdma_getaddrinfo";
    private static final int MOST_PORT = 0xffff;

    /** What a look-up is for, and how it is done. C: {@code RAI_…}. */
    public enum Flag {
        /** For an endpoint that listens: the address found is the {@link #source}. C: {@code RAI_PASSIVE}. */
        PASSIVE(1),
        /** The node is an address, no name: no resolver is asked. C: {@code RAI_NUMERICHOST}. */
        NUMERIC_HOST(2),
        /** No route is wanted. There is none in any case, so this changes nothing. C: {@code RAI_NOROUTE}. */
        NO_ROUTE(4),
        /**
         * The family of the hints says how to read the node. In C that matters for {@code AF_IB} only, and other families
         * count with and without it; so it changes nothing. C: {@code RAI_FAMILY}.
         */
        FAMILY(8),
        /**
         * Asks the subnet administrator of an InfiniBand network for a service. RoCE has none: a look-up with it fails
         * with {@code EOPNOTSUPP}. C: {@code RAI_SA}.
         */
        SUBNET_ADMINISTRATOR(16),
        /** Asks the resolver, which is done in any case. C: {@code RAI_DNS}. */
        DNS(32);

        private final int bit;

        Flag(int bit) {
            this.bit = bit;
        }

        /** The bit of {@code ai_flags}. */
        public int bit() {
            return bit;
        }
    }

    /**
     * What a look-up shall find. C: the {@code hints} of {@code rdma_getaddrinfo}.
     *
     * @param flags what for, and how
     * @param family IPv4 or IPv6 only; null for either
     * @param queuePairType type of queue pair, or null for that of the port space
     * @param portSpace port space, or null for that of the type
     * @param source local address to go into the result if the look-up finds none
     * @param destination the peer, where neither node nor service is given
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

        /** Flags and a port space, nothing else. */
        public static Hints of(PortSpace portSpace, Flag... flags) {
            EnumSet<Flag> set = EnumSet.noneOf(Flag.class);
            set.addAll(Set.of(flags));
            return new Hints(set, null, null, portSpace, null, null);
        }

        /** The same for one family. */
        public Hints withFamily(StandardProtocolFamily value) {
            return new Hints(flags, value, queuePairType, portSpace, source, destination);
        }

        /** The same for a type of queue pair. */
        public Hints withQueuePairType(@Nullable QueuePairType value) {
            return new Hints(flags, family, value, portSpace, source, destination);
        }

        /** The same with a local address. */
        public Hints withSource(@Nullable InetSocketAddress value) {
            return new Hints(flags, family, queuePairType, portSpace, value, destination);
        }

        /** The same with a peer. */
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

    /** Whether it is for an endpoint that listens. */
    public boolean isPassive() {
        return flags.contains(Flag.PASSIVE);
    }

    /**
     * Looks a node and a service up; the thread waits for the resolver. C: {@code rdma_getaddrinfo}. Without node and
     * service the result is what the hints say.
     *
     * @param node name or address; null for the wildcard of a passive, the loopback address of an active endpoint
     * @param service port number in decimal; null for 0. Names of services are not looked up
     * @param hints what to find; null for an active, reliable connection
     * @throws AddressLookupException if the node has no address, or the service is no number
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one; {@code EINVAL} if all
     *     three are null
     */
    public static AddressInformation lookUp(@Nullable String node, @Nullable String service, @Nullable Hints hints) {
        ConnectionManager.ofProcess().providers().requireDevices(LOOK_UP);
        if (node == null && service == null && hints == null) {
            throw IdCore.invalid(LOOK_UP, "there is no node, no service and no hint", "Give one of them");
        }
        Hints wanted = hints == null ? new Hints(Set.of(), null, null, null, null, null) : hints;
        if (wanted.has(Flag.SUBNET_ADMINISTRATOR)) {
            throw new RdmaException(
                    LOOK_UP,
                    Errno.EOPNOTSUPP,
                    "there is no subnet administrator on RoCE",
                    "Leave SUBNET_ADMINISTRATOR out");
        }
        boolean passive = wanted.has(Flag.PASSIVE);
        InetSocketAddress found = null;
        if (node != null || service != null) {
            found = new InetSocketAddress(address(node, wanted, passive), service == null ? 0 : port(service));
        }
        InetSocketAddress source = passive && found != null ? found : wanted.source();
        InetSocketAddress destination = !passive && found != null ? found : wanted.destination();
        QueuePairType type = wanted.queuePairType();
        PortSpace space = wanted.portSpace();
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
            case UNRELIABLE_CONNECTION, XRC_SEND, XRC_RECEIVE -> PortSpace.IB; // C says TCP, where none can connect
            case RELIABLE_CONNECTION -> PortSpace.TCP;
            case null -> PortSpace.TCP;
        };
    }

    private static InetAddress address(@Nullable String node, Hints hints, boolean passive) {
        StandardProtocolFamily family = hints.family();
        if (family == StandardProtocolFamily.UNIX) {
            throw new RdmaException(
                    LOOK_UP, Errno.EAFNOSUPPORT, "the hints ask for the family UNIX", "Use INET, INET6 or none");
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

    private static int port(String service) {
        try {
            int port = Integer.parseInt(service);
            if (port >= 0 && port <= MOST_PORT) {
                return port;
            }
        } catch (NumberFormatException name) {
            throw noService(service);
        }
        throw noService(service);
    }

    private static AddressLookupException noService(String service) {
        return new AddressLookupException(
                LOOK_UP,
                AddressLookupException.Reason.SERVICE_UNKNOWN,
                "service '" + service + "'",
                "Give a port number, 0 to 65535");
    }
}
