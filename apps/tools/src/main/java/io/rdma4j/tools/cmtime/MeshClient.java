package io.rdma4j.tools.cmtime;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A client's test, which runs each step for all connections. */
final class MeshClient {
    private final MeshContext context;
    private final MeshSync sync;
    private final Duration timeout;

    MeshClient(MeshContext context, MeshSync sync) {
        this.context = context;
        this.sync = sync;
        timeout = Duration.ofMillis(context.options.timeoutMillis());
    }

    /** Creates a test with {@code count} connections, distributed over the servers in round-robin order. */
    Round round(List<PeerRecord> mesh, int count) {
        List<PeerRecord> servers = mesh.stream().filter(PeerRecord::listens).toList();
        List<TimedConnection> connections = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            connections.add(new TimedConnection(sync.reachable(servers.get(i % servers.size()))));
        }
        return new Round(connections);
    }

    /**
     * Opens and closes all connections.
     *
     * @throws CmtimeFailure if this fails; the reason has been printed
     */
    void run(Round round, boolean last) throws CmtimeFailure {
        context.round(round);
        sync.barrier(Barrier.BEGIN);
        round.all.start(Step.FULL_CONNECT);
        prepare(round);
        sync.barrier(Barrier.PREPARED);
        context.report.line("\tConnecting");
        timed(round, Step.CONNECT, () -> round.connections.forEach(this::connect));
        round.all.end(Step.FULL_CONNECT);
        sync.barrier(Barrier.CONNECTED);
        context.report.line("\tDisconnecting");
        timed(round, Step.DISCONNECT, () -> work(round, "rdma_disconnect", this::disconnect));
        if (last) {
            sync.allowExit();
        }
        sync.barrier(Barrier.DISCONNECTED);
        context.report.line("\tDestroying QPs");
        context.destroyQueuePairs();
        context.report.line("\tDestroying IDs");
        context.destroyIds();
    }

    private void prepare(Round round) throws CmtimeFailure {
        context.report.line("\tCreating IDs");
        timed(round, Step.CREATE_ID, () -> each(round, "rdma_create_id", this::createId));
        context.report.line("\tBinding addresses");
        timed(round, Step.BIND, () -> each(round, "rdma_bind_addr", this::bind));
        context.report.line("\tResolving addresses");
        timed(round, Step.RESOLVE_ADDRESS, () -> work(round, "rdma_resolve_addr", this::resolveAddress));
        context.report.line("\tResolving routes");
        timed(round, Step.RESOLVE_ROUTE, () -> work(round, "rdma_resolve_route", this::resolveRoute));
        context.report.line("\tCreating QPs");
        timed(round, Step.CREATE_QUEUE_PAIR, () -> work(round, "ibv_create_qp", context::createQueuePair));
        context.report.line("\tModify QPs to INIT");
        timed(
                round,
                Step.INIT,
                () -> work(round, "ibv_modify_qp", connection -> context.modify(connection, Transition.INIT)));
    }

    /** Starts a step for all connections and waits until all have completed it. */
    private void timed(Round round, Step step, Runnable begin) throws CmtimeFailure {
        round.all.start(step);
        begin.run();
        sync.await(step, round.count());
        round.all.end(step);
    }

    private void each(Round round, String what, Consumer<TimedConnection> action) {
        context.attempt(what, () -> round.connections.forEach(action));
    }

    private void work(Round round, String what, Consumer<TimedConnection> action) {
        round.connections.forEach(connection -> context.work(what, () -> action.accept(connection)));
    }

    // ---- steps of one connection

    private void createId(TimedConnection connection) {
        connection.times.start(Step.FULL_CONNECT);
        connection.times.start(Step.CREATE_ID);
        connection.id(context.channel.createId(MeshRun.PORT_SPACE));
        connection.times.end(Step.CREATE_ID);
        context.progress.done(Step.CREATE_ID);
    }

    private void bind(TimedConnection connection) {
        connection.times.start(Step.BIND);
        connection.id().bindAddress(context.source);
        connection.times.end(Step.BIND);
        context.progress.done(Step.BIND);
    }

    private void resolveAddress(TimedConnection connection) {
        connection.retries(context.options.retries());
        connection.times.start(Step.RESOLVE_ADDRESS);
        connection.id().resolveAddress(context.source, connection.peer(), timeout);
    }

    private void resolveRoute(TimedConnection connection) {
        connection.retries(context.options.retries());
        connection.times.start(Step.RESOLVE_ROUTE);
        connection.id().resolveRoute(timeout);
    }

    private void connect(TimedConnection connection) {
        connection.times.start(Step.CONNECT);
        context.attempt("rdma_connect", () -> connection.id().connect(context.parameters(connection)));
    }

    private void disconnect(TimedConnection connection) {
        connection.times.start(Step.DISCONNECT);
        MeshEvents.disconnect(connection.id());
        connection.times.end(Step.DISCONNECT);
        context.progress.done(Step.DISCONNECT);
    }
}
