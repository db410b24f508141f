package io.rdma4j.transport.cm;

import io.rdma4j.value.Gid;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.Drep;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.Rtu;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Processes the MADs received by an agent, according to the message and the state of its connection. */
final class MessageHandler {
    private final CmAgent agent;
    private final CmCounters counters;
    private final RequestHandler requests;

    MessageHandler(CmAgent agent) {
        this.agent = agent;
        this.counters = agent.counters();
        this.requests = new RequestHandler(agent);
    }

    void onMad(long nowNanos, CmDatagram datagram) {
        counters.madsReceived++;
        MemorySegment mad = datagram.mad();
        CmMad.Result result = CmMad.check(mad, 0, mad.byteSize());
        CmMessage message = result == CmMad.Result.OK ? CmMessage.parse(mad, 0, mad.byteSize()) : null;
        if (message == null) {
            if (result == CmMad.Result.UNKNOWN_ATTRIBUTE) {
                counters.unsupportedDropped++;
            } else {
                counters.malformedDropped++;
            }
            return;
        }
        CmRoute from = datagram.route();
        long transaction = CmMad.transactionId(mad, 0);
        switch (message) {
            case Req req -> requests.onReq(nowNanos, from, req, transaction);
            case Rep rep -> onRep(nowNanos, from, rep, transaction);
            case Rtu rtu -> onRtu(from, rtu);
            case Rej rej -> onRej(nowNanos, from, rej);
            case Mra mra -> onMra(nowNanos, from, mra);
            case Dreq dreq -> onDreq(nowNanos, from, dreq, transaction);
            case Drep drep -> onDrep(nowNanos, from, drep);
            case SidrReq request -> agent.services.onRequest(nowNanos, from, request, transaction);
            case SidrRep reply -> agent.services.onReply(from, reply);
            default -> counters.unsupportedDropped++;
        }
    }

    /** Answers a request that has waited for a listener. */
    void onHeldRequest(long nowNanos, CmRoute from, CmMessage message, long transaction) {
        switch (message) {
            case Req req -> requests.onAdmitted(nowNanos, from, req, transaction);
            case SidrReq request -> agent.services.onAdmitted(nowNanos, from, request, transaction);
            default -> counters.unsupportedDropped++;
        }
    }

    private void onRep(long nowNanos, CmRoute from, Rep rep, long transaction) {
        CmConnection connection = agent.table.byLocalId(rep.remoteCommunicationId());
        if (connection != null && !isPeer(connection, from)) {
            return;
        }
        if (connection != null && isWaitingForRep(connection)) {
            onExpectedRep(nowNanos, connection, from, rep, transaction);
        } else if (connection != null && connection.remoteId() == rep.localCommunicationId()) {
            onDuplicateRep(connection);
        } else {
            // No connection will ever confirm this REP. Without a response the peer would stay half-open for a minute.
            counters.unmatchedDropped++;
            rejectReply(from, rep, RejectReason.INVALID_COMMUNICATION_ID, transaction);
        }
    }

    private void onExpectedRep(long nowNanos, CmConnection connection, CmRoute from, Rep rep, long transaction) {
        if (rep.localCommunicationId() == 0) {
            counters.malformedDropped++;
            return;
        }
        Gid peer = connection.route().remote();
        CmConnection same = agent.table.byRemoteId(peer, rep.localCaGuid(), rep.localCommunicationId());
        if (same != null) {
            counters.duplicateReplies++;
            return;
        }
        CmConnection stale =
                agent.table.byRemoteQueuePair(peer, rep.localCaGuid(), rep.queuePair(connection.request()));
        if (stale != null) {
            rejectReply(from, rep, RejectReason.STALE_CONNECTION, transaction);
            requests.tearDownStale(nowNanos, stale);
            return;
        }
        connection.acceptReply(rep);
        agent.table.addRemote(connection);
        agent.events.add(new AgentEvent.Replied(connection, rep));
    }

    private void onDuplicateRep(CmConnection connection) {
        counters.duplicateReplies++;
        switch (connection.state()) {
            case ESTABLISHED -> {
                if (connection.isActive()) {
                    connection.resendReadyToUse();
                }
            }
            case MRA_REP_SENT -> connection.sendMra(Mra.MESSAGE_REP);
            default -> {}
        }
    }

    private void rejectReply(CmRoute from, Rep rep, RejectReason reason, long transaction) {
        Rej rej = Rej.of(
                rep.remoteCommunicationId(), rep.localCommunicationId(), Rej.MESSAGE_REP, reason, PrivateData.EMPTY);
        if (agent.outbox.sendResponse(CmDatagram.of(rej, transaction, from, 0))) {
            counters.rejectsSent++;
        }
    }

    private void onRtu(CmRoute from, Rtu rtu) {
        CmConnection connection = find(from, rtu.remoteCommunicationId(), rtu.localCommunicationId());
        if (connection == null) {
            return;
        }
        switch (connection.state()) {
            case REP_SENT, MRA_REP_RECEIVED -> connection.establish();
            case ESTABLISHED -> counters.duplicateReadyToUse++;
            default -> counters.unmatchedDropped++;
        }
    }

    private void onMra(long nowNanos, CmRoute from, Mra mra) {
        CmConnection connection = agent.table.byLocalId(mra.remoteCommunicationId());
        boolean isForReq = mra.message() == Mra.MESSAGE_REQ && connection != null && isWaitingForRep(connection);
        boolean isForRep = mra.message() == Mra.MESSAGE_REP
                && connection != null
                && connection.remoteId() == mra.localCommunicationId()
                && isWaitingForRtu(connection);
        if (connection == null || !isForReq && !isForRep) {
            counters.unmatchedDropped++;
        } else if (isPeer(connection, from)) {
            connection.state(isForReq ? CmState.MRA_REQ_RECEIVED : CmState.MRA_REP_RECEIVED);
            connection.extendTimeout(nowNanos, mra.serviceTimeout());
        }
    }

    private void onRej(long nowNanos, CmRoute from, Rej rej) {
        CmConnection connection = findRejected(from.remote(), rej);
        if (connection == null) {
            counters.unmatchedDropped++;
            return;
        }
        if (!isPeer(connection, from)) {
            return;
        }
        switch (connection.state()) {
            case REQ_SENT, MRA_REQ_RECEIVED, REP_SENT, MRA_REP_RECEIVED, REQ_RECEIVED, MRA_REQ_SENT -> {
                if (rej.reason() == RejectReason.STALE_CONNECTION.code()) {
                    connection.enterTimewait(nowNanos);
                } else {
                    connection.remove();
                }
            }
            case DREQ_SENT, REP_RECEIVED, MRA_REP_SENT, ESTABLISHED -> connection.enterTimewait(nowNanos);
            default -> {
                counters.unmatchedDropped++;
                return;
            }
        }
        counters.rejectsReceived++;
        agent.events.add(new AgentEvent.Rejected(connection, rej));
    }

    /**
     * Finds the connection that a REJ refers to. A peer that times out its REQ does not know our communication ID and
     * sends its GUID instead. Other REJs carry both communication IDs, or ours only while the peer has none.
     */
    private @Nullable CmConnection findRejected(Gid source, Rej rej) {
        if (rej.reason() == RejectReason.TIMEOUT.code()) {
            CmConnection match = agent.table.byRemoteId(source, rej.informationGuid(), rej.localCommunicationId());
            if (match != null) {
                return match;
            }
        }
        CmConnection connection = agent.table.byLocalId(rej.remoteCommunicationId());
        return connection != null
                        && (isWaitingForRep(connection) || connection.remoteId() == rej.localCommunicationId())
                ? connection
                : null;
    }

    private void onDreq(long nowNanos, CmRoute from, Dreq dreq, long transaction) {
        CmConnection connection = agent.table.byLocalId(dreq.remoteCommunicationId());
        if (connection == null || connection.remoteId() != dreq.localCommunicationId()) {
            counters.unknownDisconnectsAnswered++;
            Drep drep = new Drep(dreq.remoteCommunicationId(), dreq.localCommunicationId(), PrivateData.EMPTY);
            agent.outbox.sendResponse(CmDatagram.of(drep, transaction, from, 0));
            return;
        }
        if (!isPeer(connection, from)) {
            return;
        }
        if (connection.localQueuePair() != dreq.remoteQueuePair()) {
            counters.wrongQueuePairDropped++;
            return;
        }
        if (isWaitingForRtu(connection)) {
            // Only a peer that received the REP and sent its RTU can disconnect: the RTU is lost or late.
            connection.establish();
        }
        switch (connection.state()) {
            case ESTABLISHED -> {
                connection.acceptDisconnectRequest(transaction);
                agent.events.add(new AgentEvent.DisconnectRequested(connection));
            }
            case DREQ_SENT -> {
                // The owner has already disconnected: there is nothing to wait for.
                connection.sendDrep(transaction);
                endDisconnect(nowNanos, connection);
            }
            case TIMEWAIT -> {
                counters.duplicateDisconnectRequests++;
                connection.sendDrep(transaction);
            }
            case DREQ_RECEIVED -> counters.duplicateDisconnectRequests++;
            default -> counters.unmatchedDropped++;
        }
    }

    /** Handles a peer that died without sending a DREQ. The owner of the connection is notified as for a DREQ. */
    void onPeerLost(CmConnection connection) {
        switch (connection.state()) {
            case REP_SENT, MRA_REP_RECEIVED, ESTABLISHED -> {
                counters.lostPeers++;
                connection.acceptDisconnectRequest(0);
                agent.events.add(new AgentEvent.DisconnectRequested(connection));
            }
            default -> {}
        }
    }

    private void onDrep(long nowNanos, CmRoute from, Drep drep) {
        CmConnection connection = find(from, drep.remoteCommunicationId(), drep.localCommunicationId());
        if (connection == null) {
            return;
        }
        if (connection.state() == CmState.DREQ_SENT) {
            endDisconnect(nowNanos, connection);
        } else {
            counters.unmatchedDropped++;
        }
    }

    private void endDisconnect(long nowNanos, CmConnection connection) {
        connection.enterTimewait(nowNanos);
        agent.events.add(new AgentEvent.Disconnected(connection, false));
    }

    private static boolean isWaitingForRep(CmConnection connection) {
        return connection.state() == CmState.REQ_SENT || connection.state() == CmState.MRA_REQ_RECEIVED;
    }

    private static boolean isWaitingForRtu(CmConnection connection) {
        return connection.state() == CmState.REP_SENT || connection.state() == CmState.MRA_REP_RECEIVED;
    }

    private @Nullable CmConnection find(CmRoute from, int localId, int remoteId) {
        CmConnection connection = agent.table.byLocalId(localId);
        if (connection == null || connection.remoteId() != remoteId) {
            counters.unmatchedDropped++;
            return null;
        }
        return isPeer(connection, from) ? connection : null;
    }

    private boolean isPeer(CmConnection connection, CmRoute from) {
        if (agent.configuration().allowForeignAddresses()
                || connection.route().matchesPeer(from.remote(), from.scope())) {
            return true;
        }
        counters.foreignMessagesDropped++;
        return false;
    }
}
