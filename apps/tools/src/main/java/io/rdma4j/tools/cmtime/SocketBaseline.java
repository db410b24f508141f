package io.rdma4j.tools.cmtime;

import io.rdma4j.cm.spi.HostLookup;
import io.rdma4j.tools.command.AddressFamilies;
import io.rdma4j.tools.messages.MessageReport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** The baseline test, which opens and closes the same number of TCP connections. */
final class SocketBaseline implements AutoCloseable {
    private static final int POLL_MILLIS = 100;

    private final CmtimeOptions options;
    private final MessageReport report;
    private final StepCounts<Step> progress;
    private final List<SocketChannel> open = new ArrayList<>();
    private @Nullable ServerSocketChannel listening;

    SocketBaseline(CmtimeOptions options, MessageReport report, StepCounts<Step> progress) {
        this.options = options;
        this.report = report;
        this.progress = progress;
    }

    /** Listens at an address and returns the bound address. */
    InetSocketAddress listen(InetSocketAddress source) throws CmtimeFailure {
        report.line("Server baseline socket setup");
        ServerSocketChannel made = openListener(source);
        listening = made;
        try {
            made.bind(source, options.connections());
            return (InetSocketAddress) made.getLocalAddress();
        } catch (IOException e) {
            throw failure("bind", e);
        }
    }

    private ServerSocketChannel openListener(InetSocketAddress source) throws CmtimeFailure {
        try {
            return AddressFamilies.call(() -> ServerSocketChannel.open(HostLookup.familyOf(source.getAddress())));
        } catch (IOException e) {
            throw failure("socket", e);
        }
    }

    /** Opens and closes all connections, and returns the results. */
    Map<String, @Nullable Object> run(List<PeerRecord> mesh, OutOfBand outOfBand) throws CmtimeFailure {
        Round round = Round.ofServer(options.connections());
        if (options.listens()) {
            accept(round, Objects.requireNonNull(listening));
        } else {
            report.line("Client baseline socket setup");
            connect(
                    round,
                    Objects.requireNonNull(mesh.stream()
                            .filter(PeerRecord::listens)
                            .findFirst()
                            .orElseThrow()
                            .address()));
        }
        outOfBand.allowExit();
        outOfBand.sync(Barrier.CONNECTED, Long.MAX_VALUE);
        report.line("Closing sockets");
        round.all.start(Step.DESTROY_ID);
        close();
        round.all.end(Step.DESTROY_ID);
        report.line((options.listens() ? "Server" : "Client") + " baseline socket results:");
        round.table(false, options.threads()).forEach(report::line);
        return round.report("sockets", options.threads());
    }

    private void accept(Round round, ServerSocketChannel socket) throws CmtimeFailure {
        report.line("Accept sockets");
        try {
            for (int i = 0; i < round.count(); i++) {
                open.add(acceptNext(socket));
                if (i == 0) {
                    round.all.start(Step.FULL_CONNECT);
                }
            }
        } catch (IOException e) {
            throw failure("accept", e);
        }
        round.all.end(Step.FULL_CONNECT);
    }

    /** Waits for a connection until the run fails. */
    private SocketChannel acceptNext(ServerSocketChannel socket) throws IOException, CmtimeFailure {
        socket.socket().setSoTimeout(POLL_MILLIS);
        while (true) {
            try {
                return socket.socket().accept().getChannel();
            } catch (SocketTimeoutException timeout) {
                progress.throwIfFailed();
            }
        }
    }

    private void connect(Round round, InetSocketAddress server) throws CmtimeFailure {
        round.all.start(Step.FULL_CONNECT);
        try (ExecutorService workers = Executors.newFixedThreadPool(
                options.threads(),
                Thread.ofPlatform().daemon().name("cmtime-worker-", 0).factory())) {
            report.line("Creating sockets");
            round.all.start(Step.CREATE_ID);
            round.connections.forEach(connection -> workers.execute(() -> create(connection, server)));
            awaitAll(Step.CREATE_ID, round);
            report.line("Connecting sockets");
            round.all.start(Step.CONNECT);
            for (int i = 0; i < round.count(); i++) {
                TimedConnection connection = round.connections.get(i);
                SocketChannel socket = socket(i);
                workers.execute(() -> connect(connection, socket, server));
            }
            awaitAll(Step.CONNECT, round);
        }
        round.all.end(Step.FULL_CONNECT);
    }

    private void awaitAll(Step step, Round round) throws CmtimeFailure {
        progress.await(step, round.count(), Long.MAX_VALUE);
        round.all.end(step);
    }

    private SocketChannel socket(int index) {
        synchronized (open) {
            return open.get(index);
        }
    }

    private void create(TimedConnection connection, InetSocketAddress server) {
        connection.times.start(Step.CREATE_ID);
        try {
            SocketChannel socket =
                    AddressFamilies.call(() -> SocketChannel.open(HostLookup.familyOf(server.getAddress())));
            synchronized (open) {
                open.add(socket);
            }
        } catch (IOException e) {
            progress.fail(() -> reportFailure("socket", e));
        }
        connection.times.end(Step.CREATE_ID);
        progress.done(Step.CREATE_ID);
    }

    private void connect(TimedConnection connection, SocketChannel socket, InetSocketAddress server) {
        connection.times.start(Step.CONNECT);
        try {
            socket.connect(server);
        } catch (IOException e) {
            progress.fail(() -> reportFailure("connect", e));
        }
        connection.times.end(Step.CONNECT);
        progress.done(Step.CONNECT);
    }

    private void reportFailure(String what, IOException e) {
        report.errorLine(what + ": " + e.getMessage());
    }

    private CmtimeFailure failure(String what, IOException e) {
        reportFailure(what, e);
        return new CmtimeFailure();
    }

    @Override
    public void close() throws CmtimeFailure {
        try {
            synchronized (open) {
                for (SocketChannel each : open) {
                    each.close();
                }
                open.clear();
            }
            if (listening != null) {
                listening.close();
            }
        } catch (IOException e) {
            throw failure("close", e);
        }
    }
}
