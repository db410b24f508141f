package io.rdma4j.tools.rping;

import io.rdma4j.cm.CmId;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.verbs.RdmaException;
import java.io.PrintStream;

/**
 * The server, which reads the data that each client advertises and writes the data back.
 *
 * <p>It serves one client or, with {@code -P}, any number at the same time.
 */
final class RpingServer {
    private static final int BACKLOG = 3;

    private final CmId listener;
    private final RpingEvents events;
    private final RpingOptions options;
    private final RpingReport report;
    private final PrintStream out;
    private final WarmUp warmUp;

    RpingServer(
            CmId listener,
            RpingEvents events,
            RpingOptions options,
            RpingReport report,
            ToolEnvironment environment,
            WarmUp warmUp) {
        this.listener = listener;
        this.events = events;
        this.options = options;
        this.report = report;
        this.out = environment.out();
        this.warmUp = warmUp;
    }

    /**
     * Serves one client until it disconnects. With {@code -P} it returns only with an exception.
     *
     * @throws ToolFailure on failure; the reason has been printed
     */
    void run() throws ToolFailure {
        listen();
        if (!options.persistent()) {
            serve(awaitRequest());
            return;
        }
        while (true) {
            RpingEvents.Request request = awaitRequest();
            Thread.ofPlatform().daemon().name("rping-client").start(() -> {
                try {
                    serve(request);
                } catch (ToolFailure e) {
                    report.debug("client ended with status %d", e.status());
                }
            });
        }
    }

    private RpingEvents.Request awaitRequest() throws ToolFailure {
        RpingEvents.Request request = events.awaitRequest();
        warmUp.close();
        return request;
    }

    private void listen() throws ToolFailure {
        systemCall("rdma_bind_addr", () -> listener.bindAddress(options.address()));
        report.debug("rdma_bind_addr successful");
        report.debug("rdma_listen");
        systemCall("rdma_listen", () -> listener.listen(BACKLOG));
    }

    private void systemCall(String name, Runnable call) throws ToolFailure {
        try {
            call.run();
        } catch (RdmaException e) {
            report.systemError(name, e);
            throw new ToolFailure(-1);
        }
    }

    private void serve(RpingEvents.Request request) throws ToolFailure {
        CmId child = request.id();
        try (RpingConnection connection = new RpingConnection(child, options, report, request.progress())) {
            try {
                accept(child, connection);
            } catch (ToolFailure e) {
                report.error("connect error " + e.status());
                throw e;
            }
            echoAll(connection);
        } finally {
            child.close();
        }
    }

    private void accept(CmId child, RpingConnection connection) throws ToolFailure {
        report.debug("accepting client connection request");
        if (options.ownQueuePair()) {
            try {
                connection.modifyToReadyToSend();
            } catch (RdmaException e) {
                report.explain(e);
                throw new ToolFailure(-1);
            }
        }
        systemCall("rdma_accept", () -> {
            if (options.ownQueuePair()) {
                child.accept(connection.parameters());
            } else {
                child.accept();
            }
        });
        RpingState state = connection.progress().await();
        if (state == RpingState.ERROR || events.failed()) {
            report.error("wait for CONNECTED state " + state.number());
            throw new ToolFailure(-1);
        }
    }

    private void echoAll(RpingConnection connection) throws ToolFailure {
        try {
            while (true) {
                echo(connection);
            }
        } catch (ToolFailure e) {
            if (connection.progress().state() != RpingState.DISCONNECTED) {
                if (!options.persistent()) {
                    report.error("rping server failed: " + e.status());
                }
                throw e;
            }
        } finally {
            connection.disconnect();
        }
    }

    private void echo(RpingConnection connection) throws ToolFailure {
        connection.await(RpingState.READ_ADVERTISED, "RDMA_READ_ADV");
        report.debug("server received sink adv");
        connection.read(connection.remote());
        report.debug("server posted rdma read req ");
        connection.await(RpingState.READ_COMPLETE, "RDMA_READ_COMPLETE");
        report.debug("server received read complete");
        if (options.verbose()) {
            RpingPayload.print(
                    out, "server ping data: ", connection.buffers().data().memory());
        }
        connection.sendMessage();
        report.debug("server posted go ahead");
        connection.await(RpingState.WRITE_ADVERTISED, "RDMA_WRITE_ADV");
        report.debug("server received sink adv");
        connection.write(connection.remote());
        connection.await(RpingState.WRITE_COMPLETE, "RDMA_WRITE_COMPLETE");
        report.debug("server rdma write complete ");
        connection.sendMessage();
        report.debug("server posted go ahead");
    }
}
