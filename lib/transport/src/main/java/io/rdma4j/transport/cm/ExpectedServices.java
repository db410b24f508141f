package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.SidrReq;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The services with recently bound ports, and the requests that wait for their listeners.
 *
 * <p>A kernel application needs microseconds from {@code rdma_bind_addr} to {@code rdma_listen}, a process that has
 * just started tens of milliseconds. A client that learns the port after the bind, like a client of {@code qperf},
 * would be refused in that time. Dropping its request would not help: Linux repeats one after four seconds.
 */
final class ExpectedServices {
    /** The time for which a bound port is expected to listen. */
    static final long PATIENCE_NANOS = 500_000_000;

    /** The number of requests that may wait; further ones are dropped, and repeated by their peers. */
    static final int MAX_HELD = 64;

    private final class Held extends DeadlineEntry {
        private final long serviceId;
        private final CmRoute from;
        private final CmMessage message;
        private final long transaction;

        private Held(long serviceId, CmRoute from, CmMessage message, long transaction) {
            this.serviceId = serviceId;
            this.from = from;
            this.message = message;
            this.transaction = transaction;
        }

        @Override
        void onDeadline(long nowNanos) {
            answer(nowNanos, this);
        }
    }

    private final CmAgent agent;

    /** The end of the time for which each service is expected, the oldest first. */
    private final Map<Long, Long> untilNanos = new LinkedHashMap<>();

    private final List<Held> held = new ArrayList<>();

    ExpectedServices(CmAgent agent) {
        this.agent = agent;
    }

    /** Returns the number of requests that wait. */
    int held() {
        return held.size();
    }

    void expect(long nowNanos, long serviceId) {
        Iterator<Long> oldest = untilNanos.values().iterator();
        while (oldest.hasNext() && oldest.next() - nowNanos <= 0) {
            oldest.remove();
        }
        untilNanos.remove(serviceId); // to be the newest
        untilNanos.put(serviceId, nowNanos + PATIENCE_NANOS);
    }

    /** Answers the requests that wait for a service, since it has its listener. */
    void onListening(long nowNanos, long serviceId) {
        if (untilNanos.remove(serviceId) != null) {
            held.stream().filter(each -> each.serviceId == serviceId).toList().forEach(each -> answer(nowNanos, each));
        }
    }

    private void answer(long nowNanos, Held request) {
        held.remove(request);
        agent.deadlines.schedule(request, Long.MAX_VALUE);
        agent.onHeldRequest(nowNanos, request.from, request.message, request.transaction);
    }

    /** Keeps a request for which there is no listener, if one is expected; returns false if none is. */
    boolean hold(long nowNanos, long serviceId, CmRoute from, CmMessage message, long transaction) {
        @Nullable Long until = untilNanos.get(serviceId);
        if (until == null || until - nowNanos <= 0) {
            return false;
        }
        if (held.size() == MAX_HELD || held.stream().anyMatch(each -> isRepeated(each, from, message))) {
            return true;
        }
        Held request = new Held(serviceId, from, message, transaction);
        held.add(request);
        agent.deadlines.schedule(request, until);
        return true;
    }

    private static boolean isRepeated(Held earlier, CmRoute from, CmMessage message) {
        return earlier.from.equals(from) && requestId(earlier.message) == requestId(message);
    }

    private static int requestId(CmMessage message) {
        return switch (message) {
            case Req req -> req.localCommunicationId();
            case SidrReq request -> request.requestId();
            default -> 0;
        };
    }
}
