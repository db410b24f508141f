package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.Req;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Connections of processes that are gone. Each becomes one of the agent's, whose DREQ is repeated as that of any connection
 * without an owner; a few at a time, since there may be many, and the sockets of their peers hold some hundred messages.
 */
final class Orphans extends DeadlineEntry {
    private static final int BATCH = 16;
    private static final long PAUSE_NANOS = 1_000_000;

    /** What Linux's rdma_cm takes for the packet life time, and one more, as a REQ has it. */
    private static final int ACKNOWLEDGE_TIMEOUT = 19;

    private static final int HOP_LIMIT = 64;

    private final CmAgent agent;
    private final Queue<AbandonedConnection> waiting = new ArrayDeque<>();

    Orphans(CmAgent agent) {
        this.agent = agent;
    }

    void add(long nowNanos, AbandonedConnection abandoned) {
        waiting.add(abandoned);
        if (waiting.size() == 1) {
            agent.deadlines.schedule(this, nowNanos);
        }
    }

    int size() {
        return waiting.size();
    }

    @Override
    void onDeadline(long nowNanos) {
        for (int i = 0; i < BATCH && !waiting.isEmpty(); i++) {
            disconnect(nowNanos, waiting.remove());
        }
        agent.deadlines.schedule(this, waiting.isEmpty() ? Long.MAX_VALUE : nowNanos + PAUSE_NANOS);
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
        agent.counters().orphans++;
        connection.disconnectWithoutOwner(nowNanos);
    }
}
