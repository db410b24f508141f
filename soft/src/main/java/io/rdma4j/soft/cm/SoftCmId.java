package io.rdma4j.soft.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmEvents;
import io.rdma4j.transport.cm.CmRoute;
import io.rdma4j.transport.cm.CmState;
import io.rdma4j.transport.cm.ServiceRequest;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.FlowLabel;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.RejectReason;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One identifier: the states and rules of Linux's rdma_cm. What the application calls comes from one thread at a time;
 * what the network causes comes under the host's lock, under which the connection's fields are.
 */
final class SoftCmId implements ProviderCmId {
    /** States of an identifier, with the names of Linux's {@code enum rdma_cm_state}. */
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

    private static final int PSN_MASK = 0xff_ffff;
    private static final int MOST_RETRIES = 7;
    private static final int ACK_TIMEOUT = 19;
    private static final int HOP_LIMIT = 64;

    private final CmService service;
    private final PortSpace portSpace;
    private final IdAddresses addresses;
    private final GroupMemberships memberships;
    private final DatagramExchange datagrams;
    private final int startingPsn;
    private CmEventSink sink;
    private volatile State state = State.IDLE;
    private volatile @Nullable ConnectionAttributes attributes;
    private volatile int typeOfService;
    private volatile int ackTimeout = -1;
    private @Nullable Listening listening;
    private @Nullable CmConnection connection;
    private volatile int queuePairNumber;
    private volatile @Nullable RoutePath path;

    SoftCmId(CmService service, PortSpace portSpace, CmEventSink sink) {
        this.service = service;
        this.portSpace = portSpace;
        this.sink = sink;
        this.addresses = new IdAddresses(service, portSpace);
        this.memberships = new GroupMemberships(service);
        this.datagrams = new DatagramExchange(this, service, addresses);
        this.startingPsn = service.host().random() & PSN_MASK;
    }

    // ---- addresses and route

    @Override
    public void bind(InetSocketAddress local) {
        require("rdma_bind_addr", State.IDLE);
        addresses.bind(local);
        state = State.ADDR_BOUND;
        joinService();
    }

    /** What happens to the device is told from now on. */
    private void joinService() {
        service.locked(now -> {
            service.add(this);
            return this;
        });
    }

    @Override
    public void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination, Duration timeout) {
        require("rdma_resolve_addr", State.IDLE, State.ADDR_BOUND);
        boolean found = addresses.resolve(source, destination);
        joinService();
        if (found) {
            state = State.ADDR_RESOLVED;
            emit(ProviderEvent.of(CmEvent.Type.ADDRESS_RESOLVED));
        } else {
            state = State.ADDR_BOUND;
            emit(new ProviderEvent(
                    CmEvent.Type.ADDRESS_ERROR,
                    -Errno.ENODEV.number(),
                    ConnectionParameters.NONE,
                    addresses.whyUnresolved()));
        }
    }

    @Override
    public void resolveRoute(Duration timeout) {
        require("rdma_resolve_route", State.ADDR_RESOLVED);
        state = State.ROUTE_RESOLVED;
        emit(ProviderEvent.of(CmEvent.Type.ROUTE_RESOLVED));
    }

    @Override
    public void setPath(RoutePath chosen) {
        require("rdma_set_option", State.ADDR_RESOLVED);
        PathMtu most = addresses.requireAttachment().pathMtu();
        if (chosen.pathMtu().compareTo(most) > 0) {
            throw wrongState(
                    "rdma_set_option", "the path MTU " + chosen.pathMtu() + " is more than the device's " + most);
        }
        path = chosen;
        state = State.ROUTE_RESOLVED;
        emit(ProviderEvent.of(CmEvent.Type.ROUTE_RESOLVED));
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
        }
        addresses.reuse(value);
    }

    @Override
    public void setIpv6Only(boolean value) {
        require("rdma_set_option", State.IDLE, State.ADDR_BOUND);
        addresses.familyOnly(value);
    }

    @Override
    public void setAckTimeout(int exponent) {
        ackTimeout = exponent;
    }

    // ---- multicast

    @Override
    public void joinMulticast(MulticastJoinAttributes wanted, Object membership) {
        require(GroupMemberships.JOIN, State.ADDR_BOUND, State.ADDR_RESOLVED);
        Attachment at = addresses.attachment();
        if (at == null) {
            throw wrongState(GroupMemberships.JOIN, "it is bound to a wildcard and has no device");
        }
        if (!portSpace.isDatagram()) {
            throw wrongState(GroupMemberships.JOIN, "its port space " + portSpace + " is not one of datagrams");
        }
        emit(memberships.join(at, wanted, typeOfService, membership));
    }

    @Override
    public void leaveMulticast(Object membership) {
        memberships.leave(membership);
    }

    // ---- passive side

    @Override
    public void listen(int backlog) {
        if (state == State.LISTEN) {
            return; // as in Linux, where a second call changes nothing
        }
        require("rdma_listen", State.ADDR_BOUND);
        Listening made = new Listening(service, this, addresses, backlog);
        made.open(new RequestListener(this, addresses.requireLocal().getAddress(), addresses.isFamilyOnly()));
        listening = made;
        state = State.LISTEN;
    }

    /** A request has come for this listener; under the host's lock. */
    CmEvents onRequest(CmConnection request, Req message, IpCmHeader header, Attachment at) {
        SoftCmId child = new SoftCmId(service, portSpace, sink);
        child.addresses.connected(
                at, header, addresses.requireLocal().getPort(), request.route().scope());
        child.typeOfService = typeOfService;
        child.ackTimeout = ackTimeout;
        child.connection = request;
        child.attributes = ConnectionAttributes.passive(message, at.scope(), child.startingPsn);
        child.state = State.CONNECT;
        service.add(child);
        ConnectionParameters parameters = new ConnectionParameters(
                message.privateData().from(IpCmHeader.LENGTH).toByteArray(),
                /* responderResources= */ message.initiatorDepth(),
                /* initiatorDepth= */ message.responderResources(),
                message.endToEndFlowControl(),
                message.retryCount(),
                message.rnrRetryCount(),
                message.sharedReceiveQueue(),
                message.localQueuePair());
        child.sink = sink.onConnectRequest(child, new ProviderEvent(CmEvent.Type.CONNECT_REQUEST, 0, parameters, ""));
        return new ConnectionEvents(child);
    }

    /** A question for this datagram service has come; under the host's lock. */
    void onRequest(ServiceRequest request, IpCmHeader header, Attachment at) {
        SoftCmId child = new SoftCmId(service, portSpace, sink);
        child.addresses.connected(
                at, header, addresses.requireLocal().getPort(), request.route().scope());
        child.typeOfService = typeOfService;
        child.datagrams.asked(request);
        child.state = State.CONNECT;
        service.add(child);
        byte[] privateData =
                request.message().privateData().from(IpCmHeader.LENGTH).toByteArray();
        child.sink = sink.onConnectRequest(
                child,
                new ProviderEvent(
                        CmEvent.Type.CONNECT_REQUEST, 0, ConnectionParameters.NONE.withPrivateData(privateData), ""));
    }

    @Override
    public void requestTaken() {
        service.locked(now -> {
            datagrams.requestTaken();
            if (connection != null) {
                connection.releaseBacklog();
            }
            return this;
        });
    }

    @Override
    public void accept(ConnectionParameters parameters) {
        require("rdma_accept", State.CONNECT);
        if (portSpace.isDatagram()) {
            byte[] privateData = parameters.privateData();
            requirePrivateData("rdma_accept", privateData.length, DatagramParameters.REPLY_PRIVATE_DATA);
            service.run(now -> datagrams.accept(now, parameters.queuePairNumber(), privateData));
            return;
        }
        requirePrivateData("rdma_accept", parameters.privateDataLength(), ConnectionParameters.REPLY_PRIVATE_DATA);
        service.locked(now -> {
            CmConnection request = requireConnection("rdma_accept", CmState.REQ_RECEIVED, CmState.MRA_REQ_SENT);
            ConnectionAttributes known = attributes;
            if (known != null) {
                attributes = known.withDepths(parameters.responderResources(), parameters.initiatorDepth());
            }
            queuePairNumber = parameters.queuePairNumber();
            request.accept(
                    now,
                    Rep.of(
                            0,
                            0,
                            parameters.queuePairNumber(),
                            startingPsn,
                            parameters.responderResources(),
                            parameters.initiatorDepth(),
                            addresses.requireAttachment().localAckDelay(),
                            parameters.flowControl(),
                            Math.min(parameters.rnrRetryCount(), MOST_RETRIES),
                            parameters.sharedReceiveQueue(),
                            0,
                            PrivateData.of(parameters.privateData())));
            return this;
        });
    }

    // ---- active side

    @Override
    public void connect(ConnectionParameters parameters) {
        require("rdma_connect", State.ROUTE_RESOLVED);
        if (portSpace.isDatagram()) {
            ask(parameters.privateData());
            return;
        }
        requirePrivateData("rdma_connect", parameters.privateDataLength(), ConnectionParameters.REQUEST_PRIVATE_DATA);
        InetSocketAddress local = addresses.requireLocal();
        InetSocketAddress peer = addresses.requirePeer();
        Attachment from = addresses.requireAttachment();
        io.rdma4j.wire.Gid to = addresses.peerGid();
        CmPath primary = primaryPath(from, to, FlowLabel.ofPorts(local.getPort(), peer.getPort()));
        RoutePath chosen = path;
        PathMtu pathMtu = chosen == null ? from.pathMtu() : chosen.pathMtu();
        IpCmHeader header = new IpCmHeader(from.wireGid(), local.getPort(), to);
        queuePairNumber = parameters.queuePairNumber();
        service.locked(now -> {
            connection = service.agent()
                    .connect(
                            now,
                            Req.builder()
                                    .serviceId(portSpace.serviceId(peer.getPort()))
                                    .localQueuePair(parameters.queuePairNumber())
                                    .responderResources(parameters.responderResources())
                                    .initiatorDepth(parameters.initiatorDepth())
                                    .endToEndFlowControl(parameters.flowControl())
                                    .startingPsn(startingPsn)
                                    .retryCount(Math.min(parameters.retryCount(), MOST_RETRIES))
                                    .rnrRetryCount(Math.min(parameters.rnrRetryCount(), MOST_RETRIES))
                                    .sharedReceiveQueue(parameters.sharedReceiveQueue())
                                    .pathMtu(pathMtu.code())
                                    .primaryPath(primary)
                                    .privateData(header.with(PrivateData.of(parameters.privateData()))),
                            addresses.peerScope(),
                            new ConnectionEvents(this));
            state = State.CONNECT;
            service.add(this);
            return this;
        });
    }

    private CmPath primaryPath(Attachment from, io.rdma4j.wire.Gid to, int flowLabel) {
        RoutePath chosen = path;
        if (chosen == null) {
            int timeout = ackTimeout < 0 ? ACK_TIMEOUT : ackTimeout;
            return CmPath.roce(from.wireGid(), to, flowLabel, typeOfService, HOP_LIMIT, timeout);
        }
        // There and back.
        int timeout = ackTimeout < 0 ? chosen.packetLifetime() + 1 : ackTimeout;
        return CmPath.roce(from.wireGid(), to, chosen.flowLabel(), chosen.trafficClass(), chosen.hopLimit(), timeout);
    }

    private void ask(byte[] privateData) {
        requirePrivateData("rdma_connect", privateData.length, DatagramParameters.REQUEST_PRIVATE_DATA);
        long serviceId = portSpace.serviceId(addresses.requirePeer().getPort());
        service.run(now -> {
            datagrams.ask(now, serviceId, privateData);
            state = State.CONNECT;
            service.add(this);
        });
    }

    @Override
    public void establish() {
        require("rdma_establish", State.CONNECT);
        service.locked(now -> {
            requireConnection("rdma_establish", CmState.REP_RECEIVED, CmState.MRA_REP_SENT)
                    .sendReadyToUse(now);
            return this;
        });
    }

    // ---- both sides

    @Override
    public void reject(byte[] privateData) {
        if (portSpace.isDatagram()) {
            requirePrivateData("rdma_reject", privateData.length, DatagramParameters.REPLY_PRIVATE_DATA);
            service.run(now -> datagrams.reject(now, privateData));
            return;
        }
        requirePrivateData("rdma_reject", privateData.length, ConnectionParameters.REJECT_PRIVATE_DATA);
        service.locked(now -> {
            requireConnection(
                            "rdma_reject",
                            CmState.REQ_RECEIVED,
                            CmState.MRA_REQ_SENT,
                            CmState.REP_RECEIVED,
                            CmState.MRA_REP_SENT)
                    .reject(now, RejectReason.CONSUMER_DEFINED, PrivateData.of(privateData));
            return this;
        });
    }

    @Override
    public void disconnect() {
        service.locked(now -> {
            CmConnection current = connection;
            if (current == null) {
                throw wrongState("rdma_disconnect", "there is no connection");
            }
            switch (current.state()) {
                case ESTABLISHED, DREQ_RECEIVED -> current.disconnect(now);
                default -> {
                    // As in Linux: there is nothing to say to the peer, and no error.
                }
            }
            return this;
        });
    }

    @Override
    public void notifyCommunicationEstablished() {
        service.locked(now -> {
            CmConnection current = connection;
            if (current == null || state != State.CONNECT) {
                throw wrongState("rdma_notify", "there is no connection");
            }
            if (current.state() == CmState.ESTABLISHED) {
                throw new RdmaException("rdma_notify", Errno.EISCONN, describe(), "This may be ignored");
            }
            if (!current.notifyCommunicationEstablished()) {
                throw wrongState("rdma_notify", "the connection is " + current.state());
            }
            return this;
        });
    }

    @Override
    public QueuePairAttributes initQueuePairAttributes(QueuePairState target) {
        String operation = "rdma_init_qp_attr";
        Attachment at = addresses.attachment();
        if (at == null) {
            throw wrongState(operation, "it has no device");
        }
        ConnectionAttributes known = attributes;
        if (portSpace.isDatagram()) {
            return DatagramExchange.queuePairAttributes(target);
        }
        if (target == QueuePairState.INIT) {
            return ConnectionAttributes.toInit(known);
        }
        if (known == null) {
            throw wrongState(operation, "the peer's message has not arrived");
        }
        return switch (target) {
            case READY_TO_RECEIVE -> known.toReadyToReceive(at.gidIndex());
            case READY_TO_SEND -> known.toReadyToSend(ackTimeout);
            default ->
                throw new RdmaException(
                        operation,
                        Errno.EINVAL,
                        "there are no attributes for the state " + target,
                        "Ask for INIT, READY_TO_RECEIVE or READY_TO_SEND");
        };
    }

    @Override
    public void close() {
        Listening listener = listening;
        if (listener != null) {
            listener.close();
        }
        service.locked(now -> {
            state = State.DESTROYING;
            service.remove(this);
            return part(now);
        });
        memberships.close();
        addresses.close();
    }

    /** Leaves the peer with a word; under the host's lock. */
    boolean part(long nowNanos) {
        datagrams.part(nowNanos);
        CmConnection current = connection;
        return current == null || current.destroy(nowNanos);
    }

    // ---- what happens to the connection; under the host's lock

    void onReply(CmConnection replied, Rep reply) {
        attributes = ConnectionAttributes.active(
                replied.request(), reply, addresses.peerScope(), replied.queuePairAckTimeout());
        emit(new ProviderEvent(
                CmEvent.Type.CONNECT_RESPONSE,
                0,
                new ConnectionParameters(
                        reply.privateData().toByteArray(),
                        /* responderResources= */ reply.initiatorDepth(),
                        /* initiatorDepth= */ reply.responderResources(),
                        reply.endToEndFlowControl(),
                        replied.request().retryCount(),
                        reply.rnrRetryCount(),
                        reply.sharedReceiveQueue(),
                        reply.localQueuePair()),
                ""));
    }

    void onEstablished() {
        emit(ProviderEvent.of(CmEvent.Type.ESTABLISHED));
    }

    void onReject(Rej reject) {
        emit(new ProviderEvent(
                CmEvent.Type.REJECTED,
                reject.reason(),
                ConnectionParameters.NONE.withPrivateData(reject.privateData().toByteArray()),
                Explanations.rejected(describe(), peerAddress(), reject.reason())));
    }

    void onUnreachable(CmConnection silent) {
        emit(new ProviderEvent(
                CmEvent.Type.UNREACHABLE,
                -Errno.ETIMEDOUT.number(),
                ConnectionParameters.NONE,
                silent.isActive()
                        ? Explanations.noAnswerToRequest(describe())
                        : Explanations.noAnswerToReply(describe())));
    }

    /** Either side's disconnection; only the first word of it is an event. */
    void onDisconnected(boolean timedOut) {
        if (state == State.CONNECT) {
            state = State.DISCONNECT;
            emit(new ProviderEvent(
                    CmEvent.Type.DISCONNECTED,
                    timedOut ? -Errno.ETIMEDOUT.number() : 0,
                    ConnectionParameters.NONE,
                    timedOut ? Explanations.disconnectUnanswered(describe()) : ""));
        }
    }

    void onTimewaitExit() {
        if (state == State.DISCONNECT) {
            emit(ProviderEvent.of(CmEvent.Type.TIMEWAIT_EXIT));
        }
    }

    void onDeviceRemoved(Device device) {
        Attachment at = addresses.attachment();
        if (at != null && at.device().equals(device) && state != State.DESTROYING) {
            state = State.DEVICE_REMOVAL;
            emit(new ProviderEvent(
                    CmEvent.Type.DEVICE_REMOVAL,
                    0,
                    ConnectionParameters.NONE,
                    "The network interface of " + device.name() + " has gone. Close the identifier and what uses it."));
        }
    }

    void onAddressesChanged(Predicate<Attachment> isChanged) {
        Attachment at = addresses.attachment();
        if (at != null && isChanged.test(at)) {
            emit(ProviderEvent.of(CmEvent.Type.ADDRESS_CHANGE));
        }
    }

    void emit(ProviderEvent event) {
        if (state != State.DESTROYING) {
            sink.onEvent(event);
        }
    }

    // ---- what it has

    @Override
    public @Nullable Device device() {
        Attachment at = addresses.attachment();
        return at == null ? null : at.device();
    }

    @Override
    public int portNumber() {
        return addresses.attachment() == null ? 0 : 1;
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return addresses.local();
    }

    @Override
    public @Nullable InetSocketAddress peerAddress() {
        return addresses.peer();
    }

    @Nullable
    Attachment attachment() {
        return addresses.attachment();
    }

    @Nullable
    Attachment attachmentOf(CmRoute route) {
        return service.attachmentOf(route);
    }

    long nowNanos() {
        return service.host().nowNanos();
    }

    int typeOfService() {
        return typeOfService;
    }

    PortSpace portSpace() {
        return portSpace;
    }

    @Override
    public String describe() {
        return Explanations.ends(addresses.local(), addresses.peer(), addresses.attachment());
    }

    // ---- checks

    private void require(String operation, State... allowed) {
        if (!Arrays.asList(allowed).contains(state)) {
            throw wrongState(
                    operation,
                    "the identifier's state is " + state + ", it must be "
                            + String.join(
                                    " or ",
                                    Arrays.stream(allowed).map(State::name).toList()));
        }
    }

    private CmConnection requireConnection(String operation, CmState... allowed) {
        CmConnection current = connection;
        if (current == null) {
            throw wrongState(operation, "there is no connection, the identifier's state is " + state);
        }
        if (!Arrays.asList(allowed).contains(current.state())) {
            throw wrongState(
                    operation,
                    "the connection's state is " + current.state() + ", it must be "
                            + String.join(
                                    " or ",
                                    Arrays.stream(allowed).map(CmState::name).toList()));
        }
        return current;
    }

    private RdmaException wrongState(String operation, String details) {
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
