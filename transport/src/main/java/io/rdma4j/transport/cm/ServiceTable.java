package io.rdma4j.transport.cm;

import io.rdma4j.wire.Gid;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;

/** The datagram services of an agent: who listens, what is asked of peers, and what peers ask. */
final class ServiceTable {
    /** Answers that are remembered; beyond, the oldest are forgotten. */
    private static final int MAX_ANSWERED = 1024;

    /** An answer is remembered for as long as a Linux peer repeats its request. */
    private static final long REMEMBER_NANOS = 70_000_000_000L;

    private static final int MAX_PROPOSALS = 1000;

    /** The default partition without its membership bit; the only one there is on RoCE. */
    private static final int DEFAULT_PARTITION = 0x7fff;

    /** A peer's number of its request. */
    private record Key(Gid peer, int scope, int requestId) {}

    private record Answered(Key key, long untilNanos) {}

    private final CmAgent agent;
    private final CmCounters counters;
    private final Map<Long, List<ListenedDatagramService>> listeners = new HashMap<>();
    private final Map<Integer, ServiceResolution> asking = new HashMap<>();
    private final Map<Key, ServiceRequest> asked = new HashMap<>();

    /** Those of {@link #asked} that are answered, the oldest first. */
    private final Map<Key, Answered> answered = new LinkedHashMap<>();

    ServiceTable(CmAgent agent) {
        this.agent = agent;
        counters = agent.counters();
    }

    Outbox outbox() {
        return agent.outbox;
    }

    /** Requests that wait for an answer of their owner. */
    int waiting() {
        return asked.size() - answered.size();
    }

    /** Answers that are remembered. */
    int remembered() {
        return answered.size();
    }

    int resolutions() {
        return asking.size();
    }

    // ---- listening

    ListenedDatagramService listen(long serviceId, ServiceListener listener, int backlog) {
        ListenedDatagramService listening = new ListenedDatagramService(this, serviceId, listener, backlog);
        listeners.computeIfAbsent(serviceId, id -> new ArrayList<>(1)).add(listening);
        return listening;
    }

    void remove(ListenedDatagramService listening) {
        List<ListenedDatagramService> same = listeners.get(listening.serviceId());
        if (same != null && same.remove(listening) && same.isEmpty()) {
            listeners.remove(listening.serviceId());
        }
    }

    // ---- asking

    /** A request number that is free, or 0 if none was found. */
    int freeId(IntSupplier proposals) {
        for (int i = 0; i < MAX_PROPOSALS; i++) {
            int id = proposals.getAsInt();
            if (id != 0 && !asking.containsKey(id)) {
                return id;
            }
        }
        return 0;
    }

    void add(ServiceResolution resolution) {
        asking.put(resolution.requestId(), resolution);
    }

    void remove(ServiceResolution resolution) {
        asking.remove(resolution.requestId());
    }

    void onReply(CmRoute from, SidrRep reply) {
        ServiceResolution resolution = asking.get(reply.requestId());
        if (resolution == null) {
            counters.unmatchedDropped++;
        } else {
            resolution.onReply(from, reply);
        }
    }

    // ---- asked

    void onRequest(long nowNanos, CmRoute from, SidrReq message, long transaction) {
        forgetOld(nowNanos);
        if (!agent.rateLimits.admits(nowNanos, agent.rateLimits.of(from.remote()), from)) {
            counters.rateLimitedRequests++;
            return;
        }
        Key key = new Key(from.remote(), from.scope(), message.requestId());
        ServiceRequest same = asked.get(key);
        if (same != null) {
            counters.duplicateRequests++;
            same.onDuplicate();
            return;
        }
        if (!agent.gate.isOpen(nowNanos, from.remote())) {
            counters.requestsRefused++;
            refuse(from, message, SidrRep.STATUS_REJECTED, transaction);
            return;
        }
        boolean inPartition = (message.partitionKey() & DEFAULT_PARTITION) == DEFAULT_PARTITION;
        List<ListenedDatagramService> those =
                inPartition ? listeners.getOrDefault(message.serviceId(), List.of()) : List.of();
        if (those.isEmpty()) {
            counters.requestsWithoutListener++;
            refuse(from, message, SidrRep.STATUS_UNSUPPORTED, transaction);
            return;
        }
        for (ListenedDatagramService listening : those) {
            if (listening.listener().matches(from, message)) {
                take(key, from, message, transaction, listening);
                return;
            }
        }
        counters.requestsUnwanted++;
        refuse(from, message, SidrRep.STATUS_REJECTED, transaction);
    }

    private void take(Key key, CmRoute from, SidrReq message, long transaction, ListenedDatagramService listening) {
        if (listening.isFull() || waiting() >= agent.configuration().maxHalfOpen()) {
            counters.backlogDropped++;
            return;
        }
        ServiceRequest request = new ServiceRequest(this, from, message, transaction, listening);
        asked.put(key, request);
        if (!listening.listener().onRequest(request, message)) {
            counters.backlogDropped++;
            request.releaseBacklog();
            asked.remove(key);
        }
    }

    private void refuse(CmRoute from, SidrReq message, int status, long transaction) {
        SidrRep reply = SidrRep.of(message.requestId(), status, 0, message.serviceId(), 0, PrivateData.EMPTY);
        if (agent.outbox.answer(Outbox.Outgoing.of(reply, transaction, from, 0, 0))) {
            counters.rejectsSent++;
        }
    }

    /** The owner has answered: from now on the request may be forgotten. */
    void answered(long nowNanos, ServiceRequest request) {
        Key key = new Key(
                request.route().remote(),
                request.route().scope(),
                request.message().requestId());
        answered.put(key, new Answered(key, nowNanos + REMEMBER_NANOS));
        forgetOld(nowNanos);
    }

    private void forgetOld(long nowNanos) {
        Iterator<Answered> oldest = answered.values().iterator();
        while (oldest.hasNext()) {
            Answered next = oldest.next();
            if (answered.size() <= MAX_ANSWERED && next.untilNanos() - nowNanos > 0) {
                return;
            }
            oldest.remove();
            asked.remove(next.key());
        }
    }
}
