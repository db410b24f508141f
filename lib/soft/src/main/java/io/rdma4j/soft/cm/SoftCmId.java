package io.rdma4j.soft.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionAttempt;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ConnectionExplanations;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.soft.device.AttackWarnings;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.ServiceRequest;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.PrivateData;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An identifier, with the states and rules of Linux's rdma_cm.
 *
 * <p>The application's calls come from one thread at a time. Calls caused by the network come under the engine's lock,
 * which guards the connection's fields.
 */
final class SoftCmId implements ProviderCmId {
    /** The states of an identifier, with the names of Linux's {@code enum rdma_cm_state}. */
    enum State {
        IDLE,
        ADDR_BOUND,
        ADDR_RESOLVED,
        ROUTE_RESOLVED,
        LISTEN,
        CONNECT,
        DISCONNECT,
        DEVICE_REMOVAL,
        DESTROYING
    }

    /** The sink of a closed identifier. */
    private static final CmEventSink NO_SINK = new CmEventSink() {
        @Override
        public void onEvent(CmEvent event) {}

        @Override
        public CmEventSink onConnectRequest(ProviderCmId child, CmEvent.ConnectRequest event) {
            return this;
        }
    };

    private final CmService service;
    private final PortSpace portSpace;
    private final QueuePairType queuePairType;
    private final IdAddresses addresses;
    private final ConnectionExchange connection;

    /** Null if this is an identifier of a connected service. */
    private final @Nullable DatagramExchange datagrams;

    /** Null before the first group. */
    private @Nullable GroupMemberships memberships;

    private CmEventSink sink;
    private volatile State state = State.IDLE;
    private volatile int typeOfService;
    private volatile Predicate<ConnectionAttempt> accessFilter = attempt -> true;
    private @Nullable Listening listening;

    SoftCmId(CmService service, PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        this.service = service;
        this.portSpace = portSpace;
        this.queuePairType = queuePairType;
        this.sink = sink;
        this.addresses = new IdAddresses(service, portSpace);
        this.connection = new ConnectionExchange(this, service, addresses);
        this.datagrams = isDatagram() ? new DatagramExchange(this, service, addresses) : null;
    }

    // ---- addresses and route

    @Override
    public void bind(InetSocketAddress local) {
        require("rdma_bind_addr", State.IDLE);
        addresses.bind(local);
        long serviceId = portSpace.serviceId(addresses.requireLocal().getPort());
        service.run(now -> service.agent().expect(now, serviceId));
        addresses.attachWildcard();
        state = State.ADDR_BOUND;
        service.add(this);
    }

    @Override
    public void resolveAddress(
            @Nullable InetSocketAddress source,
            InetSocketAddress destination,
            @Nullable InetAddress routeSource,
            Duration timeout) {
        require("rdma_resolve_addr", State.IDLE, State.ADDR_BOUND);
        boolean found = addresses.resolve(source, destination, routeSource);
        service.add(this);
        if (found) {
            state = State.ADDR_RESOLVED;
            emit(new CmEvent.Notice(CmEvent.Type.ADDRESS_RESOLVED));
        } else {
            state = State.ADDR_BOUND;
            emit(new CmEvent.Failure(CmEvent.Type.ADDRESS_ERROR, -Errno.ENODEV.number(), addresses.unresolvedReason()));
        }
    }

    @Override
    public void resolveRoute(Duration timeout) {
        require("rdma_resolve_route", State.ADDR_RESOLVED);
        state = State.ROUTE_RESOLVED;
        emit(new CmEvent.Notice(CmEvent.Type.ROUTE_RESOLVED));
    }

    @Override
    public void setPath(RoutePath chosen) {
        require("rdma_set_option", State.ADDR_RESOLVED);
        PathMtu maximum = addresses.requireLocalEndpoint().pathMtu();
        if (chosen.pathMtu().compareTo(maximum) > 0) {
            throw wrongState(
                    "rdma_set_option", "the path MTU " + chosen.pathMtu() + " is more than the device's " + maximum);
        }
        connection.path(chosen);
        state = State.ROUTE_RESOLVED;
        emit(new CmEvent.Notice(CmEvent.Type.ROUTE_RESOLVED));
    }

    // ---- options

    @Override
    public void setTypeOfService(int value) {
        typeOfService = value;
    }

    @Override
    public void setReuseAddress(boolean value) {
        if (!value) {
            require("rdma_set_option", State.IDLE);
        } else if (state == State.LISTEN) {
            throw wrongState("rdma_set_option", "it is already listening, so it cannot share its port");
        }
        addresses.reuse(value);
    }

    @Override
    public void setIpv6Only(boolean value) {
        require("rdma_set_option", State.IDLE, State.ADDR_BOUND);
        addresses.familyOnly(value);
    }

    @Override
    public void setAccessFilter(Predicate<ConnectionAttempt> filter) {
        accessFilter = filter;
    }

    @Override
    public void setAckTimeout(int exponent) {
        connection.ackTimeout(exponent);
    }

    @Override
    public void setLocalEnhancement(ConnectionEnhancement enhancement) {
        connection.enhancement(enhancement);
    }

    // ---- multicast

    @Override
    public void joinMulticast(MulticastJoinAttributes wanted, Object membership) {
        require(GroupMemberships.JOIN, State.ADDR_BOUND, State.ADDR_RESOLVED);
        LocalEndpoint at = addresses.localEndpoint();
        if (at == null) {
            throw wrongState(GroupMemberships.JOIN, "it is bound to a wildcard and has no device");
        }
        if (!isDatagram()) {
            throw wrongState(GroupMemberships.JOIN, "its type " + queuePairType + " is not a datagram type");
        }
        GroupMemberships joined = memberships;
        if (joined == null) {
            joined = new GroupMemberships(service);
            memberships = joined;
        }
        emit(joined.join(at, wanted, typeOfService, membership));
    }

    @Override
    public void leaveMulticast(Object membership) {
        if (memberships != null) {
            memberships.leave(membership);
        }
    }

    // ---- passive side

    @Override
    public void listen(int backlog) {
        if (state == State.LISTEN) {
            return; // as in Linux, where a second call changes nothing
        }
        require("rdma_listen", State.ADDR_BOUND);
        Listening created = new Listening(service, this, addresses, backlog);
        InetAddress bound = addresses.requireLocal().getAddress();
        created.open(this, new ListenerFilter(this, created, bound, addresses.isFamilyOnly()));
        listening = created;
        state = State.LISTEN;
        created.serveEarlyRequests();
    }

    /** Handles a request for this listener; under the engine's lock. */
    void onRequest(CmConnection request) {
        SoftCmId child = child(request.route(), request.request().privateData());
        child.sink = sink.onConnectRequest(child, child.connection.onRequest(request));
    }

    /** Handles a resolution request for this datagram service; under the engine's lock. */
    void onRequest(ServiceRequest request) {
        SoftCmId child = child(request.route(), request.message().privateData());
        DatagramExchange exchange = Objects.requireNonNull(child.datagrams);
        child.sink = sink.onConnectRequest(child, exchange.onRequest(request));
    }

    /** Creates the identifier for a request that has passed the filter. */
    private SoftCmId child(CmRoute route, PrivateData privateData) {
        IpCmHeader header = Objects.requireNonNull(IpCmHeader.parse(privateData));
        LocalEndpoint at = Objects.requireNonNull(service.endpoints().of(route));
        SoftCmId child = new SoftCmId(service, portSpace, queuePairType, sink);
        child.addresses.connected(at, header, addresses.requireLocal().getPort(), route.scope());
        child.typeOfService = typeOfService;
        child.connection.inherit(connection);
        child.state = State.CONNECT;
        service.add(child);
        return child;
    }

    @Override
    public void onRequestTaken() {
        service.locked(now -> {
            if (datagrams != null) {
                datagrams.requestTaken();
            }
            connection.requestTaken();
            return this;
        });
    }

    @Override
    public void accept(ConnectionParameters parameters) {
        require("rdma_accept", State.CONNECT);
        DatagramExchange exchange = datagrams;
        if (exchange != null) {
            byte[] privateData = parameters.privateData();
            requirePrivateData("rdma_accept", privateData.length, DatagramParameters.REPLY_PRIVATE_DATA);
            service.run(now -> exchange.accept(now, parameters.queuePairNumber(), privateData));
            return;
        }
        requirePrivateData("rdma_accept", parameters.privateDataLength(), ConnectionParameters.REPLY_PRIVATE_DATA);
        service.run(now -> connection.accept(now, parameters));
    }

    // ---- active side

    @Override
    public void connect(ConnectionParameters parameters) {
        require("rdma_connect", State.ROUTE_RESOLVED);
        if (datagrams != null) {
            resolveService(datagrams, parameters.privateData());
            return;
        }
        requirePrivateData("rdma_connect", parameters.privateDataLength(), ConnectionParameters.REQUEST_PRIVATE_DATA);
        long serviceId = portSpace.serviceId(addresses.requirePeer().getPort());
        service.run(now -> {
            connection.connect(now, serviceId, parameters);
            state = State.CONNECT;
        });
    }

    private void resolveService(DatagramExchange exchange, byte[] privateData) {
        requirePrivateData("rdma_connect", privateData.length, DatagramParameters.REQUEST_PRIVATE_DATA);
        long serviceId = portSpace.serviceId(addresses.requirePeer().getPort());
        service.run(now -> {
            exchange.resolve(now, serviceId, privateData);
            state = State.CONNECT;
        });
    }

    @Override
    public void establish() {
        require("rdma_establish", State.CONNECT);
        service.run(connection::establish);
    }

    // ---- both sides

    @Override
    public void reject(byte[] privateData, boolean becauseOfEnhancement) {
        DatagramExchange exchange = datagrams;
        if (exchange != null) {
            requirePrivateData("rdma_reject", privateData.length, DatagramParameters.REPLY_PRIVATE_DATA);
            service.run(now -> exchange.reject(now, privateData));
            return;
        }
        requirePrivateData("rdma_reject", privateData.length, ConnectionParameters.REJECT_PRIVATE_DATA);
        RejectReason reason =
                becauseOfEnhancement ? RejectReason.VENDOR_OPTION_NOT_SUPPORTED : RejectReason.CONSUMER_DEFINED;
        service.run(now -> connection.reject(now, reason, privateData));
    }

    @Override
    public void disconnect() {
        service.run(connection::disconnect);
    }

    @Override
    public boolean isConnected() {
        return service.locked(
                now -> state != State.DEVICE_REMOVAL && connection.isConnected(state == State.DISCONNECT));
    }

    @Override
    public void notifyCommunicationEstablished() {
        service.run(now -> connection.notifyCommunicationEstablished());
    }

    @Override
    public QueuePairAttributes initQueuePairAttributes(QueuePairState target) {
        if (addresses.localEndpoint() == null) {
            throw wrongState("rdma_init_qp_attr", "it has no device");
        }
        return isDatagram() ? DatagramExchange.queuePairAttributes(target) : connection.queuePairAttributes(target);
    }

    @Override
    public void close() {
        Listening listener = listening;
        if (listener != null) {
            listener.close();
        }
        service.run(this::destroy);
        if (memberships != null) {
            memberships.close();
        }
        addresses.close();
    }

    private void destroy(long nowNanos) {
        state = State.DESTROYING;
        service.remove(this);
        var _ = destroyExchange(nowNanos);
        // The protocol machine may refer to this object during the time-wait, but must not keep the application's
        // objects
        // reachable.
        sink = NO_SINK;
    }

    /**
     * Disconnects or rejects the peer as appropriate; under the engine's lock. Returns whether the connection is over,
     * without a time-wait.
     */
    boolean destroyExchange(long nowNanos) {
        if (datagrams != null) {
            datagrams.destroy(nowNanos);
        }
        return connection.destroy(nowNanos);
    }

    // ---- events; under the engine's lock

    /** Handles a disconnect by either side; only the first one creates an event. */
    void onDisconnected(boolean timedOut) {
        if (state == State.CONNECT) {
            state = State.DISCONNECT;
            emit(new CmEvent.Disconnected(
                    timedOut ? -Errno.ETIMEDOUT.number() : 0,
                    timedOut ? ConnectionExplanations.disconnectUnanswered(describe()) : ""));
        }
    }

    /** Removes a request that its peer has withdrawn, unless the application has just taken it. */
    void onRequestDiscarded(long nowNanos) {
        if (sink.onRequestDiscarded()) {
            destroy(nowNanos);
        }
    }

    void onTimewaitExit() {
        if (state == State.DISCONNECT) {
            emit(new CmEvent.Notice(CmEvent.Type.TIMEWAIT_EXIT));
        }
    }

    void onDeviceRemoved(Device device) {
        LocalEndpoint at = addresses.localEndpoint();
        if (at != null && at.device().equals(device) && state != State.DESTROYING) {
            state = State.DEVICE_REMOVAL;
            emit(new CmEvent.Notice(
                    CmEvent.Type.DEVICE_REMOVAL,
                    "The network interface of " + device.name()
                            + " was removed. Close the identifier and the objects that use it."));
        }
    }

    void onAddressesChanged(Predicate<LocalEndpoint> isChanged) {
        LocalEndpoint at = addresses.localEndpoint();
        if (at != null && isChanged.test(at)) {
            emit(new CmEvent.Notice(CmEvent.Type.ADDRESS_CHANGE));
        }
    }

    void emit(CmEvent event) {
        if (state != State.DESTROYING) {
            sink.onEvent(event);
        }
    }

    // ---- properties

    @Override
    public @Nullable Device device() {
        LocalEndpoint at = addresses.localEndpoint();
        return at == null ? null : at.device();
    }

    @Override
    public int portNumber() {
        return addresses.localEndpoint() == null ? 0 : 1;
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return addresses.local();
    }

    @Override
    public @Nullable InetSocketAddress peerAddress() {
        return addresses.peer();
    }

    @Override
    public @Nullable RoutePath path() {
        return switch (state) {
            case ROUTE_RESOLVED, CONNECT, DISCONNECT -> connection.path();
            default -> null;
        };
    }

    @Nullable
    LocalEndpoint localEndpoint() {
        return addresses.localEndpoint();
    }

    @Nullable
    LocalEndpoint localEndpointOf(CmRoute route) {
        return service.endpoints().of(route);
    }

    /** Returns the port of a listener. */
    int listeningPort() {
        return addresses.requireLocal().getPort();
    }

    /** Returns the filter of connection requests. */
    Predicate<ConnectionAttempt> accessFilter() {
        return accessFilter;
    }

    /** Returns whether requests may name a sender other than the address that they come from. */
    boolean allowsForeignRequests() {
        return service.devices().security().allowsForeignRequests();
    }

    /** Returns the logger of possible attacks. */
    AttackWarnings warnings() {
        return service.devices().warnings();
    }

    /** Returns whether it has a peer, and no disconnect was reported. */
    boolean isConnecting() {
        return state == State.CONNECT;
    }

    int typeOfService() {
        return typeOfService;
    }

    PortSpace portSpace() {
        return portSpace;
    }

    QueuePairType queuePairType() {
        return queuePairType;
    }

    boolean isDatagram() {
        return queuePairType == QueuePairType.UNRELIABLE_DATAGRAM;
    }

    @Override
    public String describe() {
        LocalEndpoint at = addresses.localEndpoint();
        return ConnectionExplanations.ends(addresses.local(), addresses.peer(), at == null ? null : at.describe());
    }

    @Override
    public String toString() {
        return "identifier " + describe();
    }

    // ---- checks

    private void require(String operation, State... allowed) {
        if (!Arrays.asList(allowed).contains(state)) {
            throw wrongState(
                    operation,
                    "the identifier's state is " + state + "; it must be "
                            + String.join(
                                    " or ",
                                    Arrays.stream(allowed).map(State::name).toList()));
        }
    }

    RdmaException wrongState(String operation, String details) {
        Errno errno = state == State.DEVICE_REMOVAL ? Errno.EIO : Errno.EINVAL;
        return new RdmaException(operation, errno, describe() + ": " + details, "");
    }

    private void requirePrivateData(String operation, int length, int limit) {
        if (length > limit) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    describe() + ": private data of " + length + " bytes is more than the " + limit
                            + " that the message carries",
                    "");
        }
    }
}
