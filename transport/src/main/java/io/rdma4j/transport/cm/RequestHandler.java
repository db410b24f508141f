package io.rdma4j.transport.cm;

import io.rdma4j.wire.Gid;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.RejectReason;
import io.rdma4j.wire.cm.Req;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Handles received REQs. Validates in the same order as Linux; each failure is answered without allocating state, and
 * only a valid request creates a connection.
 */
final class RequestHandler {
    /** The default partition without its membership bit, the only one on RoCE. */
    private static final int DEFAULT_PARTITION = 0x7fff;

    private final CmAgent agent;
    private final CmCounters counters;

    RequestHandler(CmAgent agent) {
        this.agent = agent;
        this.counters = agent.counters();
    }

    void onReq(long nowNanos, CmRoute from, Req req, long transaction) {
        if (req.localCommunicationId() == 0) {
            counters.malformedDropped++;
            return;
        }
        if (!agent.configuration().allowForeignAddresses()
                && !req.primaryPath().localGid().equals(from.remote())) {
            counters.foreignRequestsDropped++;
            return;
        }
        RequestRateLimits.Source source = agent.rateLimits.of(from.remote());
        if (!agent.rateLimits.admits(nowNanos, source, from)) {
            counters.rateLimitedRequests++;
            return;
        }
        Gid peer = req.primaryPath().localGid();
        CmConnection same = agent.table.byRemoteId(peer, req.localCaGuid(), req.localCommunicationId());
        if (same != null) {
            onDuplicate(same);
            return;
        }
        CmConnection stale = agent.table.byRemoteQueuePair(peer, req.localCaGuid(), req.localQueuePair());
        if (stale != null) {
            reject(from, req, RejectReason.STALE_CONNECTION, PrivateData.EMPTY, transaction);
            tearDownStale(nowNanos, stale);
            return;
        }
        if (!agent.gate.isOpen(nowNanos, from.remote())) {
            counters.requestsRefused++;
            reject(from, req, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY, transaction);
            return;
        }
        List<ListenedService> listeners = agent.listeners(req.serviceId());
        if (listeners.isEmpty()) {
            counters.requestsWithoutListener++;
            reject(from, req, RejectReason.INVALID_SERVICE_ID, PrivateData.EMPTY, transaction);
            return;
        }
        if (isPathValid(from, req, transaction)) {
            offer(nowNanos, from, req, transaction, listeners, source);
        }
    }

    private void onDuplicate(CmConnection connection) {
        counters.duplicateRequests++;
        switch (connection.state()) {
            case MRA_REQ_SENT -> connection.sendMra(Mra.MESSAGE_REQ);
            case REP_SENT, MRA_REP_RECEIVED -> {
                if (!connection.isActive()) {
                    connection.resendUnanswered();
                }
            }
            default -> {}
        }
    }

    /** Handles a stale connection, whose queue pair the peer has reused. Sends a DREQ only if it is established. */
    void tearDownStale(long nowNanos, CmConnection stale) {
        counters.staleConnections++;
        if (stale.state() == CmState.ESTABLISHED) {
            stale.sendDisconnectRequest(nowNanos);
        }
    }

    private boolean isPathValid(CmRoute from, Req req, long transaction) {
        CmPath path = req.primaryPath();
        Gid local = path.localGid();
        boolean isPrimaryValid = path.remoteGid().equals(from.local())
                && !local.equals(Gid.ZERO)
                && local.isIpv4() == from.local().isIpv4()
                && (req.partitionKey() & DEFAULT_PARTITION) == DEFAULT_PARTITION;
        boolean isAlternateValid =
                !req.hasAlternatePath() || req.alternatePath().remoteGid().equals(from.local());
        if (isPrimaryValid && isAlternateValid) {
            return true;
        }
        counters.requestsWithInvalidAddress++;
        RejectReason reason = isPrimaryValid ? RejectReason.INVALID_ALTERNATE_GID : RejectReason.INVALID_PRIMARY_GID;
        reject(from, req, reason, toPrivateData(from.local()), transaction);
        return false;
    }

    private static PrivateData toPrivateData(Gid gid) {
        MemorySegment segment = MemorySegment.ofArray(new byte[Gid.LENGTH]);
        gid.emit(segment, 0);
        return PrivateData.of(segment.toArray(ValueLayout.JAVA_BYTE));
    }

    private void offer(
            long nowNanos,
            CmRoute from,
            Req req,
            long transaction,
            List<ListenedService> listeners,
            RequestRateLimits.Source source) {
        CmRoute route = new CmRoute(from.local(), req.primaryPath().localGid(), from.scope());
        for (ListenedService service : listeners) {
            if (service.listener().matches(route, req)) {
                if (!RequestRateLimits.isSameAddress(route)
                        && source.connections() >= agent.configuration().maxConnectionsPerPeer()) {
                    counters.requestsBeyondPeerLimit++;
                    reject(from, req, RejectReason.NO_RESOURCES, PrivateData.EMPTY, transaction);
                } else {
                    accept(nowNanos, route, req, transaction, service, source);
                }
                return;
            }
        }
        counters.requestsNotMatched++;
        reject(from, req, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY, transaction);
    }

    private void accept(
            long nowNanos,
            CmRoute route,
            Req req,
            long transaction,
            ListenedService service,
            RequestRateLimits.Source source) {
        boolean hasRoom = RequestRateLimits.hasRoom(service.waiting(), service.backlog(), source)
                && RequestRateLimits.hasRoom(
                        agent.halfOpen, agent.configuration().maxHalfOpen(), source);
        int id = !hasRoom ? 0 : agent.table.freeId(agent.configuration().communicationIds());
        if (id == 0) {
            counters.backlogDropped++;
            return;
        }
        CmConnection connection = CmConnection.passive(agent, route, req, transaction, id, service, source);
        agent.table.add(connection);
        agent.table.addRemote(connection);
        CmEvents events = service.listener().onRequest(connection, req);
        if (events != null) {
            connection.events(events);
        } else if (connection.state() == CmState.REQ_RECEIVED) {
            counters.backlogDropped++;
            connection.forget();
        } else {
            connection.destroy(nowNanos);
        }
        if (connection.state() == CmState.REQ_RECEIVED) {
            connection.state(CmState.MRA_REQ_SENT);
        }
    }

    private void reject(CmRoute from, Req req, RejectReason reason, PrivateData information, long transaction) {
        Rej rej = Rej.of(0, req.localCommunicationId(), Rej.MESSAGE_REQ, reason, information, PrivateData.EMPTY);
        if (agent.outbox.sendResponse(Outbox.Outgoing.of(rej, transaction, from, 0, 0))) {
            counters.rejectsSent++;
        }
    }
}
