package io.rdma4j.transport.cm;

import io.rdma4j.wire.Gid;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.Drep;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.RejectReason;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.Rtu;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** What an agent does with a received MAD: finds the connection and lets state and message decide. */
final class MessageHandler {
    private final CmAgent agent;
    private final CmCounters counters;
    private final RequestHandler requests;

    MessageHandler(CmAgent agent) {
        this.agent = agent;
        this.counters = agent.counters();
        this.requests = new RequestHandler(agent);
    }

    void onMad(long nowNanos, CmRoute from, MemorySegment mad, long at, int length) {
        counters.madsReceived++;
        boolean inside = at >= 0 && length >= 0 && length <= mad.byteSize() && at <= mad.byteSize() - length;
        CmMad.Result result = inside ? CmMad.check(mad, at, length) : CmMad.Result.BAD_LENGTH;
        CmMessage message = result == CmMad.Result.OK ? CmMessage.parse(mad, at, length) : null;
        if (message == null) {
            if (result == CmMad.Result.UNKNOWN_ATTRIBUTE) {
                counters.unsupportedDropped++;
            } else {
                counters.malformedDropped++;
            }
            return;
        }
        long transaction = CmMad.transactionId(mad, at);
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

    private void onRep(long nowNanos, CmRoute from, Rep rep, long transaction) {
        CmConnection connection = agent.table.byLocalId(rep.remoteCommunicationId());
        if (connection != null && !isPeer(connection, from)) {
            return;
        }
        if (connection != null && isWaitingForReply(connection)) {
            onAwaitedRep(nowNanos, connection, from, rep, transaction);
        } else if (connection != null && connection.remoteId() == rep.localCommunicationId()) {
            onDuplicateRep(connection);
        } else {
            // Nobody will ever confirm this one. A peer that is left without an answer stays half open for a minute.
            counters.unmatchedDropped++;
            rejectReply(from, rep, RejectReason.INVALID_COMMUNICATION_ID, transaction);
        }
    }

    private void onAwaitedRep(long nowNanos, CmConnection connection, CmRoute from, Rep rep, long transaction) {
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
        connection.takeReply(rep);
        agent.table.addRemote(connection);
        connection.tell(events -> events.onReply(connection, rep));
        if (connection.state() == CmState.REP_RECEIVED) {
            connection.state(CmState.MRA_REP_SENT);
        }
    }

    private void onDuplicateRep(CmConnection connection) {
        counters.duplicateReplies++;
        switch (connection.state()) {
            case ESTABLISHED -> {
                if (connection.isActive()) {
                    connection.answerReadyToUse();
                }
            }
            case MRA_REP_SENT -> connection.answerReceipt(Mra.MESSAGE_REP);
            default -> {}
        }
    }

    private void rejectReply(CmRoute from, Rep rep, RejectReason reason, long transaction) {
        Rej rej = Rej.of(
                rep.remoteCommunicationId(), rep.localCommunicationId(), Rej.MESSAGE_REP, reason, PrivateData.EMPTY);
        if (agent.outbox.answer(Outbox.Outgoing.of(rej, transaction, from, 0, 0))) {
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
        boolean ofRequest = mra.message() == Mra.MESSAGE_REQ && connection != null && isWaitingForReply(connection);
        boolean ofReply = mra.message() == Mra.MESSAGE_REP
                && connection != null
                && connection.remoteId() == mra.localCommunicationId()
                && awaitsConfirmation(connection);
        if (connection == null || !ofRequest && !ofReply) {
            counters.unmatchedDropped++;
        } else if (isPeer(connection, from)) {
            connection.state(ofRequest ? CmState.MRA_REQ_RECEIVED : CmState.MRA_REP_RECEIVED);
            connection.lengthenWait(nowNanos, mra.serviceTimeout());
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
                if (rej.reason() == RejectReason.STALE_CONNECTION.number()) {
                    connection.enterTimewait(nowNanos);
                } else {
                    connection.forget();
                }
            }
            case DREQ_SENT, REP_RECEIVED, MRA_REP_SENT, ESTABLISHED -> connection.enterTimewait(nowNanos);
            default -> {
                counters.unmatchedDropped++;
                return;
            }
        }
        counters.rejectsReceived++;
        connection.tell(events -> events.onReject(connection, rej));
    }

    /** A peer that gives up its REQ does not know our ID: it names its GUID. Others name both IDs, or have none yet. */
    private @Nullable CmConnection findRejected(Gid source, Rej rej) {
        if (rej.reason() == RejectReason.TIMEOUT.number()) {
            CmConnection given = agent.table.byRemoteId(source, rej.informationGuid(), rej.localCommunicationId());
            if (given != null) {
                return given;
            }
        }
        CmConnection connection = agent.table.byLocalId(rej.remoteCommunicationId());
        return connection != null
                        && (isWaitingForReply(connection) || connection.remoteId() == rej.localCommunicationId())
                ? connection
                : null;
    }

    private void onDreq(long nowNanos, CmRoute from, Dreq dreq, long transaction) {
        CmConnection connection = agent.table.byLocalId(dreq.remoteCommunicationId());
        if (connection == null || connection.remoteId() != dreq.localCommunicationId()) {
            counters.unknownDisconnectsAnswered++;
            Drep drep = new Drep(dreq.remoteCommunicationId(), dreq.localCommunicationId(), PrivateData.EMPTY);
            agent.outbox.answer(Outbox.Outgoing.of(drep, transaction, from, 0, 0));
            return;
        }
        if (!isPeer(connection, from)) {
            return;
        }
        if (connection.localQueuePair() != dreq.remoteQueuePair()) {
            counters.wrongQueuePairDropped++;
            return;
        }
        if (awaitsConfirmation(connection)) {
            // Only who has the REP and has sent its RTU can disconnect: the RTU is lost, or comes later.
            connection.establish();
        }
        switch (connection.state()) {
            case ESTABLISHED -> {
                connection.takeDisconnectRequest(transaction);
                connection.tell(events -> events.onDisconnectRequest(connection));
            }
            case DREQ_SENT -> {
                // The owner has disconnected already: there is nothing to wait for.
                connection.answerDrep(transaction);
                endDisconnect(nowNanos, connection);
            }
            case TIMEWAIT -> {
                counters.duplicateDisconnectRequests++;
                connection.answerDrep(transaction);
            }
            case DREQ_RECEIVED -> counters.duplicateDisconnectRequests++;
            default -> counters.unmatchedDropped++;
        }
    }

    /** The peer of a connection died without a word: whoever owns the connection learns it as of a DREQ. */
    void onPeerLost(CmConnection connection) {
        switch (connection.state()) {
            case REP_SENT, MRA_REP_RECEIVED, ESTABLISHED -> {
                counters.lostPeers++;
                connection.takeDisconnectRequest(0);
                connection.tell(events -> events.onDisconnectRequest(connection));
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
        connection.tell(events -> events.onDisconnected(connection, false));
    }

    private static boolean isWaitingForReply(CmConnection connection) {
        return connection.state() == CmState.REQ_SENT || connection.state() == CmState.MRA_REQ_RECEIVED;
    }

    private static boolean awaitsConfirmation(CmConnection connection) {
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
        if (agent.configuration().allowForeignAddresses() || connection.route().leadsTo(from.remote(), from.scope())) {
            return true;
        }
        counters.foreignMessagesDropped++;
        return false;
    }
}
