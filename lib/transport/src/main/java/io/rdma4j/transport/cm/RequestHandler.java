package io.rdma4j.transport.cm;

import io.rdma4j.value.Gid;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.Wire;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
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
        onAdmitted(nowNanos, from, req, transaction);
    }

    /** Handles a request that the limit of its source has admitted, now or earlier. */
    void onAdmitted(long nowNanos, CmRoute from, Req req, long transaction) {
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
        List<ListenedService<Req>> listeners = agent.listeners.of(req.serviceId());
        if (listeners.isEmpty()) {
            if (agent.expected.hold(nowNanos, req.serviceId(), from, req, transaction)) {
                return;
            }
            counters.requestsWithoutListener++;
            reject(from, req, RejectReason.INVALID_SERVICE_ID, PrivateData.EMPTY, transaction);
            return;
        }
        if (isPathValid(from, req, transaction)) {
            offer(nowNanos, from, req, transaction, listeners);
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
        RejectReason reason = isPrimaryValid ? RejectReason.INVALID_ALTERNATE_GID : RejectReason.INVALID_GID;
        reject(from, req, reason, toPrivateData(from.local()), transaction);
        return false;
    }

    private static PrivateData toPrivateData(Gid gid) {
        MemorySegment segment = MemorySegment.ofArray(new byte[Gid.LENGTH]);
        Wire.gid(segment, 0, gid);
        return PrivateData.of(segment.toArray(ValueLayout.JAVA_BYTE));
    }

    private void offer(long nowNanos, CmRoute from, Req req, long transaction, List<ListenedService<Req>> listeners) {
        RequestRateLimits.Source source = agent.rateLimits.of(from.remote());
        CmRoute route = new CmRoute(from.local(), req.primaryPath().localGid(), from.scope());
        for (ListenedService<Req> service : listeners) {
            RequestFilter.Verdict verdict = service.filter().verdict(route, req);
            if (verdict != RequestFilter.Verdict.DECLINE) {
                if (!RequestRateLimits.isSameAddress(route)
                        && source.isFull(agent.configuration().maxConnectionsPerPeer())) {
                    counters.requestsBeyondPeerLimit++;
                    reject(from, req, RejectReason.NO_RESOURCES, PrivateData.EMPTY, transaction);
                } else {
                    admit(route, req, transaction, service, verdict, source);
                }
                return;
            }
        }
        if (agent.expected.hold(nowNanos, req.serviceId(), from, req, transaction)) {
            return;
        }
        counters.requestsNotMatched++;
        reject(from, req, RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY, transaction);
    }

    private void admit(
            CmRoute route,
            Req req,
            long transaction,
            ListenedService<Req> service,
            RequestFilter.Verdict verdict,
            RequestRateLimits.Source source) {
        boolean hasRoom = hasRoom(service, source);
        if (!hasRoom && verdict == RequestFilter.Verdict.TAKE && discardWithdrawn(service)) {
            hasRoom = hasRoom(service, source);
        }
        if (hasRoom && verdict == RequestFilter.Verdict.INVALID_PATH_MTU) {
            // Both sides must segment messages into packets of the same size, and the REP cannot change it.
            int trafficClass = req.primaryPath().trafficClass();
            reject(route, req, RejectReason.INVALID_PATH_MTU, PrivateData.EMPTY, transaction, trafficClass);
            return;
        }
        boolean isDropped = !hasRoom || verdict == RequestFilter.Verdict.DROP;
        int id = isDropped ? 0 : agent.table.freeId(agent.configuration().communicationIds());
        if (id == 0) {
            counters.backlogDropped++;
            return;
        }
        CmConnection connection = CmConnection.passive(agent, route, req, transaction, id, service, source);
        agent.table.add(connection);
        agent.table.addRemote(connection);
        agent.events.add(new AgentEvent.Requested(connection, service));
    }

    private boolean hasRoom(ListenedService<Req> service, RequestRateLimits.Source source) {
        return RequestRateLimits.hasRoom(service.waiting(), service.backlog(), source)
                && RequestRateLimits.hasRoom(
                        agent.halfOpen, agent.configuration().maxHalfOpen(), source);
    }

    /**
     * Discards the oldest request in the backlog that its peer has withdrawn, if there is one. Otherwise a flood of such requests,
     * which can be forged, would leave no room for others.
     */
    private boolean discardWithdrawn(ListenedService<Req> service) {
        CmConnection oldest = service.oldestWithdrawn();
        if (oldest == null) {
            return false;
        }
        oldest.releaseBacklog();
        counters.withdrawnDiscarded++;
        agent.events.add(new AgentEvent.Discarded(oldest));
        return true;
    }

    private void reject(CmRoute to, Req req, RejectReason reason, PrivateData information, long transaction) {
        reject(to, req, reason, information, transaction, 0);
    }

    private void reject(
            CmRoute to, Req req, RejectReason reason, PrivateData information, long transaction, int trafficClass) {
        Rej rej = Rej.of(0, req.localCommunicationId(), Rej.MESSAGE_REQ, reason, information, PrivateData.EMPTY);
        if (agent.outbox.sendResponse(CmDatagram.of(rej, transaction, to, trafficClass))) {
            counters.rejectsSent++;
        }
    }
}
