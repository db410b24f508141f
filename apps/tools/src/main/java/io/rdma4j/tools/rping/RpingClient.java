package io.rdma4j.tools.rping;

import io.rdma4j.cm.CmId;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.RdmaException;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/** The client, which connects and, for every ping, advertises the source and the target of the data to the server. */
final class RpingClient {
    private final RpingOptions options;
    private final RpingReport report;
    private final PrintStream out;
    private final PingObserver observer;
    private final CmId id;
    private final RpingProgress progress;

    RpingClient(
            CmId id,
            RpingProgress progress,
            RpingOptions options,
            RpingReport report,
            ToolEnvironment environment,
            PingObserver observer) {
        this.id = id;
        this.progress = progress;
        this.options = options;
        this.report = report;
        this.out = environment.out();
        this.observer = observer;
    }

    /**
     * Connects, runs the pings and disconnects.
     *
     * @throws ToolFailure on failure; the reason has been printed
     */
    void run() throws ToolFailure {
        resolve();
        try (RpingConnection connection = new RpingConnection(id, options, report, progress)) {
            try {
                connect(connection);
            } catch (ToolFailure e) {
                report.error("connect error " + e.status());
                throw e;
            }
            pingAll(connection);
        }
    }

    private void resolve() throws ToolFailure {
        InetSocketAddress source = options.source() == null ? null : new InetSocketAddress(options.source(), 0);
        systemCall(
                "rdma_resolve_addr", () -> id.resolveAddress(source, options.address(), RpingEvents.RESOLVE_TIMEOUT));
        RpingState state = progress.await();
        if (state != RpingState.ROUTE_RESOLVED) {
            report.error("waiting for addr/route resolution state " + state.number());
            throw new ToolFailure(-1);
        }
        report.debug("rdma_resolve_addr - rdma_resolve_route successful");
    }

    private void connect(RpingConnection connection) throws ToolFailure {
        systemCall("rdma_connect", () -> id.connect(connection.parameters()));
        connection.await(RpingState.CONNECTED, "CONNECTED");
        if (options.ownQueuePair()) {
            systemCall("rping_modify_qp", connection::modifyToReadyToSend);
            systemCall("rdma_establish", id::establish);
        }
        report.debug("rdma_connect successful");
    }

    private void systemCall(String name, Runnable call) throws ToolFailure {
        try {
            call.run();
        } catch (RdmaException e) {
            report.systemError(name, e);
            throw new ToolFailure(-1);
        }
    }

    private void pingAll(RpingConnection connection) throws ToolFailure {
        int done = 0;
        try {
            while (options.count() == 0 || done < options.count()) {
                ping(connection, done);
                done++;
            }
        } catch (ToolFailure e) {
            if (e instanceof DataMismatch || progress.state() != RpingState.DISCONNECTED) {
                report.error("rping client failed: " + e.status());
                throw e;
            }
            requireDone(done);
        } finally {
            connection.disconnect();
        }
    }

    /** Fails if the server disconnected too early. C's tool reports success in this case, even if no ping was done. */
    private void requireDone(int done) throws ToolFailure {
        int wanted = Math.max(1, options.count());
        if (done < wanted) {
            report.explain("the server disconnected after " + done + " of "
                    + (options.count() == 0 ? "unlimited" : wanted) + " pings. See the server's output;"
                    + " both sides need the same -S, and the network must carry packets of the path MTU");
            throw new ToolFailure(-1);
        }
    }

    private void ping(RpingConnection connection, int ping) throws ToolFailure {
        RpingBuffers buffers = connection.buffers();
        MemorySegment sent = buffers.start().memory();
        MemorySegment received = buffers.data().memory();
        progress.enter(RpingState.READ_ADVERTISED);
        RpingPayload.fill(sent, ping);
        long begin = System.nanoTime();
        connection.advertise(buffers.start());
        connection.await(RpingState.WRITE_ADVERTISED, "RDMA_WRITE_ADV");
        connection.advertise(buffers.data());
        connection.await(RpingState.WRITE_COMPLETE, "RDMA_WRITE_COMPLETE");
        observer.onPing(ping, System.nanoTime() - begin);
        if (options.validate()) {
            validate(sent, received, ping, report);
        }
        if (options.verbose()) {
            RpingPayload.print(out, "ping data: ", received);
        }
    }

    /**
     * Compares the received data with the sent data.
     *
     * @throws ToolFailure if they differ; the reason has been printed
     */
    static void validate(MemorySegment sent, MemorySegment received, int ping, RpingReport report) throws ToolFailure {
        long difference = sent.mismatch(received);
        if (difference >= 0) {
            report.error("data mismatch!");
            report.explain("ping " + ping + ": byte " + difference + " of " + sent.byteSize()
                    + " differs from the byte that was sent");
            throw new DataMismatch();
        }
    }

    /** Received data differ from the sent data. This is a failure even after a disconnection. */
    private static final class DataMismatch extends ToolFailure {
        private static final long serialVersionUID = 1L;

        DataMismatch() {
            super(-1);
        }
    }
}
