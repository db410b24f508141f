package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.AbandonedConnection;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.Req;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Connections to be disconnected on behalf of processes that have exited. Each is added to the agent, which retransmits
 * its DREQ as for any connection without an owner. Only a few are started at a time, since there may be many and the
 * sockets of their peers buffer only some hundred messages.
 */
final class AbandonedConnectionQueue extends DeadlineEntry {
    private static final int BATCH = 16;
    private static final long BATCH_INTERVAL_NANOS = 1_000_000;

    /** Packet lifetime assumed by Linux's rdma_cm, plus one as in a REQ. */
    private static final int ACKNOWLEDGE_TIMEOUT = 19;

    private static final int HOP_LIMIT = 64;

    private final CmAgent agent;
    private final Queue<AbandonedConnection> pending = new ArrayDeque<>();

    AbandonedConnectionQueue(CmAgent agent) {
        this.agent = agent;
    }

    void add(long nowNanos, AbandonedConnection abandoned) {
        pending.add(abandoned);
        if (pending.size() == 1) {
            agent.deadlines.schedule(this, nowNanos);
        }
    }

    int size() {
        return pending.size();
    }

    @Override
    void onDeadline(long nowNanos) {
        for (int i = 0; i < BATCH && !pending.isEmpty(); i++) {
            disconnect(nowNanos, pending.remove());
        }
        agent.deadlines.schedule(this, pending.isEmpty() ? Long.MAX_VALUE : nowNanos + BATCH_INTERVAL_NANOS);
    }

    private void disconnect(long nowNanos, AbandonedConnection abandoned) {
        if (abandoned.localId() == 0 || agent.table.byLocalId(abandoned.localId()) != null) {
            return;
        }
        CmRoute route = abandoned.route();
        Req request = Req.builder()
                .localCommunicationId(abandoned.localId())
                .primaryPath(CmPath.roce(
                        route.local(), route.remote(), 0, abandoned.trafficClass(), HOP_LIMIT, ACKNOWLEDGE_TIMEOUT))
                .build();
        CmConnection connection = CmConnection.abandoned(agent, request, abandoned);
        agent.table.add(connection);
        agent.counters().abandonedConnections++;
        connection.disconnectWithoutOwner(nowNanos);
    }
}
