package io.rdma4j.tools.cmtime;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.time.Duration;
import java.util.Objects;

/**
 * Handles the events of a mesh run in a separate thread. It ends when the event channel is closed, or the stack of a
 * warm-up that was stopped.
 */
final class MeshEvents implements Runnable {
    private final MeshContext context;
    private final Duration timeout;

    MeshEvents(MeshContext context) {
        this.context = context;
        timeout = Duration.ofMillis(context.options.timeoutMillis());
    }

    @Override
    public void run() {
        try {
            while (true) {
                try (CmEvent event = context.channel.await()) {
                    context.attempt("event " + event.type().text(), () -> handle(event));
                }
            }
        } catch (ClosedException runHasEnded) {
            return;
        } catch (RdmaException e) {
            if (e.errno() != Errno.EINTR) {
                throw e;
            }
        }
    }

    private static TimedConnection connection(CmEvent event) {
        return (TimedConnection) Objects.requireNonNull(event.id().context());
    }

    private void handle(CmEvent event) {
        switch (event.type()) {
            case ADDRESS_RESOLVED -> resolved(connection(event), Step.RESOLVE_ADDRESS);
            case ROUTE_RESOLVED -> resolved(connection(event), Step.RESOLVE_ROUTE);
            case CONNECT_REQUEST -> onRequest(event.id());
            case CONNECT_RESPONSE -> {
                TimedConnection connection = connection(event);
                context.work("rdma_establish", () -> respond(connection));
            }
            case ESTABLISHED -> {
                context.round().onEstablished();
                context.progress.done(Step.CONNECT);
            }
            case ADDRESS_ERROR -> {
                TimedConnection connection = connection(event);
                if (connection.retry()) {
                    connection.id().resolveAddress(context.source, connection.peer(), timeout);
                } else {
                    fail(event, event.type().text() + ", error: " + event.status());
                }
            }
            case ROUTE_ERROR -> {
                TimedConnection connection = connection(event);
                if (connection.retry()) {
                    connection.id().resolveRoute(timeout);
                } else {
                    fail(event, event.type().text() + ", error: " + event.status());
                }
            }
            case CONNECT_ERROR, UNREACHABLE, REJECTED ->
                fail(event, "event: " + event.type().text() + ", error: " + event.status());
            case DISCONNECTED -> {
                if (context.options.listens()) {
                    onDisconnected(connection(event));
                }
            }
            case TIMEWAIT_EXIT -> {}
            default ->
                fail(
                        event,
                        "Unhandled event: " + event.type().code() + " ("
                                + event.type().text() + ")");
        }
    }

    private void fail(CmEvent event, String line) {
        context.progress.fail(() -> {
            context.report.line(line);
            context.report.explain(event.explanation());
        });
    }

    private void resolved(TimedConnection connection, Step step) {
        connection.times.end(step);
        context.progress.done(step);
    }

    // ---- client

    private void respond(TimedConnection connection) {
        context.modify(connection, Transition.READY_TO_RECEIVE);
        context.modify(connection, Transition.READY_TO_SEND);
        connection.times.start(Step.ESTABLISH);
        connection.id().establish();
        connection.times.end(Step.ESTABLISH);
        connection.times.end(Step.CONNECT);
        connection.times.end(Step.FULL_CONNECT);
        context.progress.done(Step.CONNECT);
    }

    // ---- server

    private void onRequest(CmId id) {
        Round round = context.round();
        if (round.hasNoRequests()) {
            context.report.line("\tAccepting");
            round.all.start(Step.CONNECT);
        }
        TimedConnection connection = round.nextRequested();
        if (connection == null) {
            refuse(id, round.count());
            return;
        }
        connection.id(id);
        context.work("failure accepting", () -> {
            context.createQueuePair(connection);
            context.modify(connection, Transition.INIT);
            context.modify(connection, Transition.READY_TO_RECEIVE);
            context.modify(connection, Transition.READY_TO_SEND);
            id.accept(context.parameters(connection));
        });
    }

    /** Rejects a surplus request. The C tool writes past the end of its list instead. */
    private void refuse(CmId id, int count) {
        context.progress.fail(() -> context.report.explain("the peers requested more than the " + count
                + " connections of this test. Start all instances with the same -c and -P"));
        try {
            id.reject(new byte[0]);
        } catch (RdmaException e) {
            context.report.explain(String.valueOf(e.getMessage()));
        }
        id.close();
    }

    private void onDisconnected(TimedConnection connection) {
        Round round = context.round();
        if (round.isFirstDisconnected()) {
            context.report.line("\tDisconnecting");
            round.all.start(Step.DISCONNECT);
        }
        context.work("rdma_disconnect", () -> disconnect(context, connection));
    }

    /** Disconnects a server's connection unless another thread has started to do so. */
    static void disconnect(MeshContext context, TimedConnection connection) {
        if (!connection.beginDisconnecting()) {
            return;
        }
        connection.times.start(Step.DISCONNECT);
        disconnect(connection.id());
        connection.times.end(Step.DISCONNECT);
        context.round().all.end(Step.DISCONNECT);
        context.progress.done(Step.DISCONNECT);
    }

    /** Disconnects an identifier. As in C, a failure is ignored, because the identifier may already be disconnected. */
    static void disconnect(CmId id) {
        try {
            id.disconnect();
        } catch (RdmaException ignored) {
            return;
        }
    }
}
