package io.rdma4j.soft.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.spi.ConnectionExplanations;
import io.rdma4j.soft.device.ProcessGuid;
import io.rdma4j.soft.events.ConnectionSetupEvent;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.transport.cm.AgentEvent;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmState;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.FlowLabel;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.ReqBuilder;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The message exchange of an identifier of a connected service with its peer, and its effect on the queue pair.
 *
 * <p>All state except the settings is guarded by the engine's lock.
 */
final class ConnectionExchange {
    private static final int PSN_MASK = 0xff_ffff;
    private static final int MAX_RETRIES = 7;
    private static final int ACK_TIMEOUT = 19;
    private static final int HOP_LIMIT = 64;
    private static final int MAX_LIFETIME = 30;

    private final SoftCmId id;
    private final CmService service;
    private final IdAddresses addresses;
    private final int startingPsn;
    private int retryCount;
    private volatile @Nullable ConnectionAttributes attributes;
    private volatile int ackTimeout = -1;
    private volatile @Nullable RoutePath path;
    private volatile ConnectionEnhancement enhancement = ConnectionEnhancement.NONE;
    private @Nullable CmConnection connection;

    /** The setup in progress, if there is a recording. */
    private @Nullable ConnectionSetupEvent setup;

    private boolean isOpen;
    private long openedNanos;

    ConnectionExchange(SoftCmId id, CmService service, IdAddresses addresses) {
        this.id = id;
        this.service = service;
        this.addresses = addresses;
        this.startingPsn = service.random() & PSN_MASK;
    }

    // ---- settings

    void ackTimeout(int exponent) {
        ackTimeout = exponent;
    }

    void path(RoutePath chosen) {
        path = chosen;
    }

    /** Returns the path that the application has chosen, otherwise the path from the messages, otherwise the default path. */
    RoutePath path() {
        RoutePath chosen = path;
        if (chosen != null) {
            return chosen;
        }
        int timeout = ackTimeout < 0 ? ACK_TIMEOUT : ackTimeout;
        int lifetime = Math.clamp(timeout - 1, 0, MAX_LIFETIME);
        ConnectionAttributes known = attributes;
        if (known != null) {
            return new RoutePath(
                    known.pathMtu(), known.trafficClass(), known.flowLabel(), Math.max(1, known.hopLimit()), lifetime);
        }
        int flowLabel = FlowLabel.ofPorts(
                addresses.requireLocal().getPort(), addresses.requirePeer().getPort());
        return new RoutePath(
                addresses.requireLocalEndpoint().pathMtu(), id.typeOfService(), flowLabel, HOP_LIMIT, lifetime);
    }

    void enhancement(ConnectionEnhancement chosen) {
        enhancement = chosen;
    }

    /** Copies the settings that an identifier takes over from its listener. */
    void inherit(ConnectionExchange listener) {
        ackTimeout = listener.ackTimeout;
    }

    // ---- active side

    void connect(long nowNanos, long serviceId, ConnectionParameters parameters) {
        LocalEndpoint from = addresses.requireLocalEndpoint();
        InetSocketAddress local = addresses.requireLocal();
        Gid to = addresses.peerGid();
        int flowLabel =
                FlowLabel.ofPorts(local.getPort(), addresses.requirePeer().getPort());
        IpCmHeader header = new IpCmHeader(from.gid(), local.getPort(), to);
        RoutePath chosen = path;
        PathMtu pathMtu = chosen == null ? from.pathMtu() : chosen.pathMtu();
        retryCount = Math.min(parameters.retryCount(), MAX_RETRIES);
        ReqBuilder request = Req.builder()
                .serviceId(serviceId)
                .enhancement(enhancement.vendorId(), enhancement.options())
                .localQueuePair(parameters.queuePairNumber())
                .responderResources(parameters.responderResources())
                .initiatorDepth(parameters.initiatorDepth())
                .endToEndFlowControl(parameters.flowControl())
                .startingPsn(startingPsn)
                .retryCount(retryCount)
                .rnrRetryCount(Math.min(parameters.rnrRetryCount(), MAX_RETRIES))
                .sharedReceiveQueue(parameters.sharedReceiveQueue())
                .pathMtu(pathMtu.code())
                .primaryPath(primaryPath(from, to, flowLabel))
                .privateData(header.with(PrivateData.of(parameters.privateData())));
        beginSetup();
        connection = service.agent().connect(nowNanos, withTransportType(request), addresses.peerScope(), this);
    }

    private ReqBuilder withTransportType(ReqBuilder request) {
        return switch (id.queuePairType()) {
            case XRC_SEND -> request.extended();
            case UNRELIABLE_CONNECTION -> request.transportType(Req.TRANSPORT_UC);
            default -> request;
        };
    }

    private CmPath primaryPath(LocalEndpoint from, Gid to, int flowLabel) {
        RoutePath chosen = path;
        if (chosen == null) {
            int timeout = ackTimeout < 0 ? ACK_TIMEOUT : ackTimeout;
            return CmPath.roce(from.gid(), to, flowLabel, id.typeOfService(), HOP_LIMIT, timeout);
        }
        // The timeout covers both directions.
        int timeout = ackTimeout < 0 ? chosen.packetLifetime() + 1 : ackTimeout;
        return CmPath.roce(from.gid(), to, chosen.flowLabel(), chosen.trafficClass(), chosen.hopLimit(), timeout);
    }

    void establish(long nowNanos) {
        requireConnection("rdma_establish", CmState.REP_RECEIVED, CmState.MRA_REP_SENT)
                .sendReadyToUse(nowNanos);
    }

    // ---- passive side

    /** Handles a connection request; returns its event. */
    CmEvent.ConnectRequest onRequest(CmConnection request) {
        connection = request;
        request.attach(this);
        Req message = request.request();
        beginSetup();
        int scope = addresses.requireLocalEndpoint().scope();
        onPeerAttributes(ConnectionAttributes.passive(message, scope, startingPsn), message.localCaGuid());
        ConnectionParameters received = ConnectionParameters.NONE
                .withDepths(message.initiatorDepth(), message.responderResources())
                .withFlowControl(message.endToEndFlowControl())
                .withRetries(message.retryCount(), message.rnrRetryCount())
                .withSharedReceiveQueue(message.sharedReceiveQueue())
                .withQueuePairNumber(message.localQueuePair())
                .withPrivateData(message.privateData().from(IpCmHeader.LENGTH).toByteArray());
        return new CmEvent.ConnectRequest(
                received, new ConnectionEnhancement(message.vendorId(), message.enhancementOptions()));
    }

    private void onPeerAttributes(ConnectionAttributes received, long peerGuid) {
        attributes = received;
        if (ProcessGuid.isRdma4jPeer(peerGuid)) {
            boolean reportsMarks = ProcessGuid.reportsMarks(peerGuid);
            service.devices()
                    .peerReputation()
                    .noteRdma4jPeer(received.peer(), received.peerQueuePair(), reportsMarks, this);
        }
    }

    void requestTaken() {
        if (connection != null) {
            connection.releaseBacklog();
        }
    }

    void accept(long nowNanos, ConnectionParameters parameters) {
        CmConnection request = requireConnection("rdma_accept", CmState.REQ_RECEIVED, CmState.MRA_REQ_SENT);
        ConnectionAttributes known = attributes;
        if (known != null) {
            attributes = known.withDepths(parameters.responderResources(), parameters.initiatorDepth());
        }
        Rep reply = Rep.builder()
                .localQueuePair(parameters.queuePairNumber())
                .startingPsn(startingPsn)
                .responderResources(parameters.responderResources())
                .initiatorDepth(parameters.initiatorDepth())
                .targetAcknowledgeDelay(addresses.requireLocalEndpoint().localAckDelay())
                .endToEndFlowControl(parameters.flowControl())
                .rnrRetryCount(Math.min(parameters.rnrRetryCount(), MAX_RETRIES))
                .sharedReceiveQueue(parameters.sharedReceiveQueue())
                .privateData(PrivateData.of(parameters.privateData()))
                .build();
        // As in librdmacm, the reply's options carry the vendor ID of the request.
        Rep enhanced = reply.withEnhancement(request.request().vendorId(), enhancement.options());
        request.accept(nowNanos, id.queuePairType() == QueuePairType.XRC_RECEIVE ? enhanced.extended() : enhanced);
    }

    // ---- both sides

    void reject(long nowNanos, RejectReason reason, byte[] privateData) {
        CmConnection current = requireConnection(
                "rdma_reject", CmState.REQ_RECEIVED, CmState.MRA_REQ_SENT, CmState.REP_RECEIVED, CmState.MRA_REP_SENT);
        current.reject(nowNanos, reason, PrivateData.of(privateData));
        recordEnd(nowNanos, current, ConnectionRecord.REJECTED);
    }

    void disconnect(long nowNanos) {
        CmConnection current = connection;
        if (current == null) {
            throw id.wrongState("rdma_disconnect", "there is no connection");
        }
        switch (current.state()) {
            case ESTABLISHED, DREQ_RECEIVED -> current.disconnect(nowNanos);
            default -> {
                // As in Linux: no message is sent to the peer, and there is no error.
            }
        }
    }

    /**
     * Returns whether the end of the connection has yet to be reported.
     *
     * @param isEndKnown true if the disconnect was reported, so that only the end of the time-wait remains
     */
    boolean isConnected(boolean isEndKnown) {
        CmConnection current = connection;
        return current != null
                && switch (current.state()) {
                    case ESTABLISHED, DREQ_SENT, DREQ_RECEIVED -> true;
                    case TIMEWAIT -> isEndKnown;
                    default -> false;
                };
    }

    void notifyCommunicationEstablished() {
        String operation = "rdma_notify";
        CmConnection current = connection;
        if (current == null || !id.isConnecting()) {
            throw id.wrongState(operation, "there is no connection");
        }
        if (current.state() == CmState.ESTABLISHED) {
            throw new RdmaException(operation, Errno.EISCONN, id.describe(), "This may be ignored");
        }
        if (!current.notifyCommunicationEstablished()) {
            throw id.wrongState(operation, "the connection is " + current.state());
        }
    }

    QueuePairAttributes queuePairAttributes(QueuePairState target) {
        String operation = "rdma_init_qp_attr";
        ConnectionAttributes known = attributes;
        if (target == QueuePairState.INIT) {
            return ConnectionAttributes.toInit(known);
        }
        if (known == null) {
            throw id.wrongState(operation, "the peer's message has not arrived");
        }
        return switch (target) {
            case READY_TO_RECEIVE ->
                known.toReadyToReceive(
                        id.queuePairType(), addresses.requireLocalEndpoint().gidIndex());
            case READY_TO_SEND -> known.toReadyToSend(id.queuePairType(), ackTimeout);
            default ->
                throw new RdmaException(
                        operation,
                        Errno.EINVAL,
                        "there are no attributes for the state " + target,
                        "Use INIT, READY_TO_RECEIVE or READY_TO_SEND");
        };
    }

    /** Disconnects or rejects the peer as appropriate. Returns whether the connection is over, without a time-wait. */
    boolean destroy(long nowNanos) {
        ConnectionAttributes known = attributes;
        if (known != null) {
            service.devices().peerReputation().forget(known.peer(), known.peerQueuePair(), this);
        }
        CmConnection current = connection;
        if (current == null) {
            return true;
        }
        boolean isDisconnecting = current.state() == CmState.DREQ_SENT;
        recordEnd(nowNanos, current, isDisconnecting ? ConnectionRecord.DISCONNECTED : ConnectionRecord.CLOSED);
        return current.destroy(nowNanos);
    }

    private CmConnection requireConnection(String operation, CmState... allowed) {
        CmConnection current = connection;
        if (current == null) {
            throw id.wrongState(operation, "there is no connection");
        }
        if (current.state() == CmState.IDLE && !current.isActive()) {
            throw id.wrongState(operation, "the peer has withdrawn its request, or it was rejected");
        }
        if (!Arrays.asList(allowed).contains(current.state())) {
            throw id.wrongState(
                    operation,
                    "the connection's state is " + current.state() + "; it must be "
                            + String.join(
                                    " or ",
                                    Arrays.stream(allowed).map(CmState::name).toList()));
        }
        return current;
    }

    // ---- events of the connection

    void onEvent(long nowNanos, AgentEvent.OfConnection event) {
        record(nowNanos, event);
        switch (event) {
            case AgentEvent.Replied replied -> onReply(replied.connection(), replied.reply());
            case AgentEvent.ReadyToUse _ -> id.emit(new CmEvent.Established(ConnectionParameters.NONE));
            case AgentEvent.Rejected rejected -> onReject(rejected.reject());
            case AgentEvent.Discarded _ -> id.onRequestDiscarded(nowNanos);
            case AgentEvent.Unreachable unreachable -> onUnreachable(unreachable.connection());
            case AgentEvent.DisconnectRequested _ -> id.onDisconnected(false);
            case AgentEvent.Disconnected disconnected -> id.onDisconnected(disconnected.timedOut());
            case AgentEvent.TimewaitExit _ -> id.onTimewaitExit();
            case AgentEvent.Requested _, AgentEvent.Opened _, AgentEvent.Closed _ -> {
                // The listener and the service handle these.
            }
        }
    }

    private void onReply(CmConnection replied, Rep reply) {
        ConnectionAttributes received = ConnectionAttributes.active(
                replied.request(), reply, addresses.peerScope(), retryCount, replied.queuePairAckTimeout());
        onPeerAttributes(received, reply.localCaGuid());
        ConnectionParameters parameters = ConnectionParameters.NONE
                .withDepths(reply.initiatorDepth(), reply.responderResources())
                .withFlowControl(reply.endToEndFlowControl())
                .withRetries(retryCount, reply.rnrRetryCount())
                .withSharedReceiveQueue(reply.sharedReceiveQueue())
                .withQueuePairNumber(replied.remoteQueuePair())
                .withPrivateData(reply.privateData().toByteArray());
        id.emit(new CmEvent.ConnectResponse(
                parameters, new ConnectionEnhancement(reply.vendorId(), reply.enhancementOptions())));
    }

    private void onReject(Rej reject) {
        id.emit(new CmEvent.Rejected(
                reject.reason(),
                ConnectionParameters.NONE.withPrivateData(reject.privateData().toByteArray()),
                ConnectionExplanations.rejected(id.describe(), addresses.peer(), reject.reason())));
    }

    private void onUnreachable(CmConnection silent) {
        id.emit(new CmEvent.Failure(
                CmEvent.Type.UNREACHABLE,
                -Errno.ETIMEDOUT.number(),
                silent.isActive()
                        ? ConnectionExplanations.noAnswerToRequest(id.describe(), ConnectionExplanations.ROCE_PORT_OPEN)
                        : ConnectionExplanations.noAnswerToReply(
                                id.describe(), ConnectionExplanations.ROCE_PORT_OPEN)));
    }

    // ---- recordings

    private void beginSetup() {
        if (FlightEvents.isOn()) {
            ConnectionSetupEvent event = new ConnectionSetupEvent();
            event.begin();
            setup = event;
        }
    }

    private void record(long nowNanos, AgentEvent.OfConnection event) {
        CmConnection current = event.connection();
        switch (event) {
            case AgentEvent.Opened _ -> {
                isOpen = true;
                openedNanos = nowNanos;
                endSetup(current, ConnectionSetupEvent.ESTABLISHED);
            }
            case AgentEvent.Rejected rejected ->
                recordEnd(
                        nowNanos,
                        current,
                        "rejected by the peer: "
                                + RejectReason.text(rejected.reject().reason()));
            case AgentEvent.Unreachable _ -> recordEnd(nowNanos, current, ConnectionRecord.UNREACHABLE);
            case AgentEvent.DisconnectRequested _ ->
                recordEnd(nowNanos, current, ConnectionRecord.DISCONNECTED_BY_PEER);
            case AgentEvent.Disconnected disconnected ->
                recordEnd(
                        nowNanos,
                        current,
                        disconnected.timedOut() ? ConnectionRecord.UNCONFIRMED : ConnectionRecord.DISCONNECTED);
            case AgentEvent.Requested _,
                    AgentEvent.Replied _,
                    AgentEvent.ReadyToUse _,
                    AgentEvent.Discarded _,
                    AgentEvent.TimewaitExit _,
                    AgentEvent.Closed _ -> {
                // These neither open nor end a connection.
            }
        }
    }

    /** Records the end of a connection, or of a setup without one. Only the first end counts. */
    private void recordEnd(long nowNanos, CmConnection ended, String reason) {
        if (!isOpen) {
            endSetup(ended, reason);
            return;
        }
        isOpen = false;
        if (FlightEvents.isOn()) {
            ConnectionRecord.end(id, ended, nowNanos - openedNanos, reason);
        }
    }

    private void endSetup(CmConnection of, String result) {
        ConnectionSetupEvent event = setup;
        setup = null;
        if (event != null) {
            ConnectionRecord.setUp(event, id, of, result);
        }
    }
}
