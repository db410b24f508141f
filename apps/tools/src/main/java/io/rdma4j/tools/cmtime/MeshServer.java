package io.rdma4j.tools.cmtime;

import java.util.Locale;

/** A server's test, which accepts connections and waits until the clients disconnect them. */
final class MeshServer {
    private final MeshContext context;
    private final MeshSync sync;

    MeshServer(MeshContext context, MeshSync sync) {
        this.context = context;
        this.sync = sync;
    }

    /**
     * Accepts and closes all connections.
     *
     * @throws CmtimeFailure if this fails; the reason has been printed
     */
    void run(Round round, boolean last) throws CmtimeFailure {
        context.round(round);
        sync.barrier(Barrier.BEGIN);
        sync.barrier(Barrier.PREPARED);
        sync.await(Step.CONNECT, round.count());
        sync.barrier(Barrier.CONNECTED);
        awaitDisconnections(round);
        if (last) {
            sync.allowExit();
        }
        sync.barrier(Barrier.DISCONNECTED);
        context.destroyQueuePairs();
        context.destroyIds();
    }

    private void awaitDisconnections(Round round) throws CmtimeFailure {
        if (context.progress.await(Step.DISCONNECT, round.count(), sync.longTimeoutNanos())) {
            return;
        }
        context.report.errorLine(String.format(
                Locale.ROOT,
                "Timeout waiting for clients to disconnect (got %d/%d)",
                context.progress.count(Step.DISCONNECT),
                round.count()));
        for (TimedConnection connection : round.connections) {
            context.work("rdma_disconnect", () -> MeshEvents.disconnect(context, connection));
        }
        sync.await(Step.DISCONNECT, round.count());
    }
}
