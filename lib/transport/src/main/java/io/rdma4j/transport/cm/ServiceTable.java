package io.rdma4j.transport.cm;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;

/** The datagram services of an agent: listeners, resolutions at peers, and requests of peers. */
final class ServiceTable {
    /** Maximum number of remembered replies; the oldest are discarded first. */
    private static final int MAX_REMEMBERED_REPLIES = 1024;

    /** Time for which a reply is remembered: as long as a Linux peer retransmits its request. */
    private static final long REPLY_LIFETIME_NANOS = 70_000_000_000L;

    private static final int MAX_PROPOSALS = 1000;

    /** The default partition without its membership bit, the only one on RoCE. */
    private static final int DEFAULT_PARTITION = 0x7fff;

    /** Identifies a request of a peer. */
    private record Key(Gid peer, int scope, int requestId) {}

    private record Answered(Key key, long untilNanos) {}

    private final CmAgent agent;
    private final CmCounters counters;
    private final ListenerTable<SidrReq> listeners = new ListenerTable<>();
    private final Map<Integer, ServiceResolution> resolutions = new HashMap<>();
    private final Map<Key, ServiceRequest> requests = new HashMap<>();

    /** The answered entries of {@link #requests}, oldest first. */
    private final Map<Key, Answered> answered = new LinkedHashMap<>();

    ServiceTable(CmAgent agent) {
        this.agent = agent;
        counters = agent.counters();
    }

    Outbox outbox() {
        return agent.outbox;
    }

    /** Returns the number of requests that wait for an answer of their owner. */
    int waiting() {
        return requests.size() - answered.size();
    }

    /** Returns the number of remembered replies. */
    int remembered() {
        return answered.size();
    }

    int resolutions() {
        return resolutions.size();
    }

    ListenerTable<SidrReq> listeners() {
        return listeners;
    }

    // ---- resolutions ----

    /** Returns a free request ID, or 0 if none was found. */
    int freeId(IntSupplier proposals) {
        for (int i = 0; i < MAX_PROPOSALS; i++) {
            int id = proposals.getAsInt();
            if (id != 0 && !resolutions.containsKey(id)) {
                return id;
            }
        }
        return 0;
    }

    void add(ServiceResolution resolution) {
        resolutions.put(resolution.requestId(), resolution);
    }

    void remove(ServiceResolution resolution) {
        resolutions.remove(resolution.requestId());
    }

    void onReply(CmRoute from, SidrRep reply) {
        ServiceResolution resolution = resolutions.get(reply.requestId());
        if (resolution == null) {
            counters.unmatchedDropped++;
        } else {
            resolution.onReply(from, reply);
        }
    }

    // ---- requests of peers ----

    void onRequest(long nowNanos, CmRoute from, SidrReq message, long transaction) {
        expireReplies(nowNanos);
        RequestRateLimits.Source source = agent.rateLimits.of(from.remote());
        if (!agent.rateLimits.admits(nowNanos, source, from)) {
            counters.rateLimitedRequests++;
            return;
        }
        onAdmitted(nowNanos, from, message, transaction);
    }

    /** Handles a request that the limit of its source has admitted, now or earlier. */
    void onAdmitted(long nowNanos, CmRoute from, SidrReq message, long transaction) {
        Key key = new Key(from.remote(), from.scope(), message.requestId());
        ServiceRequest existing = requests.get(key);
        if (existing != null) {
            counters.duplicateRequests++;
            existing.onDuplicate();
            return;
        }
        if (!agent.gate.isOpen(nowNanos, from.remote())) {
            counters.requestsRefused++;
            reject(from, message, SidrRep.STATUS_REJECTED, transaction);
            return;
        }
        boolean isInPartition = (message.partitionKey() & DEFAULT_PARTITION) == DEFAULT_PARTITION;
        List<ListenedService<SidrReq>> candidates = isInPartition ? listeners.of(message.serviceId()) : List.of();
        if (candidates.isEmpty()) {
            if (isInPartition && agent.expected.hold(nowNanos, message.serviceId(), from, message, transaction)) {
                return;
            }
            counters.requestsWithoutListener++;
            reject(from, message, SidrRep.STATUS_UNSUPPORTED, transaction);
            return;
        }
        RequestRateLimits.Source source = agent.rateLimits.of(from.remote());
        for (ListenedService<SidrReq> service : candidates) {
            RequestFilter.Verdict verdict = service.filter().verdict(from, message);
            if (verdict != RequestFilter.Verdict.DECLINE) {
                if (verdict != RequestFilter.Verdict.TAKE) {
                    counters.backlogDropped++;
                } else if (hasRoom(from, service, source)) {
                    ServiceRequest request = new ServiceRequest(this, from, message, transaction, service, source);
                    requests.put(key, request);
                    agent.events.add(new AgentEvent.ServiceRequested(request));
                }
                return;
            }
        }
        if (agent.expected.hold(nowNanos, message.serviceId(), from, message, transaction)) {
            return;
        }
        counters.requestsNotMatched++;
        reject(from, message, SidrRep.STATUS_REJECTED, transaction);
    }

    /** Returns whether another request of an address may wait, by the same limits as for connections. Counts it if not. */
    private boolean hasRoom(CmRoute from, ListenedService<SidrReq> service, RequestRateLimits.Source source) {
        if (!RequestRateLimits.isSameAddress(from)
                && source.isFull(agent.configuration().maxConnectionsPerPeer())) {
            counters.requestsBeyondPeerLimit++;
            return false;
        }
        boolean hasRoom = RequestRateLimits.hasRoom(service.waiting(), service.backlog(), source)
                && RequestRateLimits.hasRoom(waiting(), agent.configuration().maxHalfOpen(), source);
        if (!hasRoom) {
            counters.backlogDropped++;
        }
        return hasRoom;
    }

    private void reject(CmRoute from, SidrReq message, int status, long transaction) {
        SidrRep reply = SidrRep.of(message.requestId(), status, 0, message.serviceId(), 0, PrivateData.EMPTY);
        if (agent.outbox.sendResponse(CmDatagram.of(reply, transaction, from, 0))) {
            counters.rejectsSent++;
        }
    }

    /** Notes that a request of an address waits for the answer of its owner. */
    void onWaiting(RequestRateLimits.Source source) {
        source.halfOpen++;
        agent.rateLimits.addConnection(source);
    }

    /** Notes that the owner has answered. The request may now expire. */
    void answered(long nowNanos, ServiceRequest request, RequestRateLimits.Source source) {
        source.halfOpen--;
        agent.rateLimits.removeConnection(source);
        Key key = new Key(
                request.route().remote(),
                request.route().scope(),
                request.message().requestId());
        answered.put(key, new Answered(key, nowNanos + REPLY_LIFETIME_NANOS));
        expireReplies(nowNanos);
    }

    private void expireReplies(long nowNanos) {
        Iterator<Answered> oldest = answered.values().iterator();
        while (oldest.hasNext()) {
            Answered next = oldest.next();
            if (answered.size() <= MAX_REMEMBERED_REPLIES && next.untilNanos() - nowNanos > 0) {
                return;
            }
            oldest.remove();
            requests.remove(next.key());
        }
    }
}
