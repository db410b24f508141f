package io.rdma4j.tools.perftest;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A connector that uses the connection manager. The client connects its queue pairs one after the other, and the server
 * creates a queue pair for each request. If datagrams go in both directions, the client's first datagram carries its
 * queue pair number as immediate data.
 */
final class CmConnector implements QueuePairConnector {
    private static final String FAILED_TO_CONNECT = "Failed to create RDMA CM connection with resources.";
    private static final Duration RESOLUTION = Duration.ofSeconds(2);
    private static final Duration EVENT_WAIT = Duration.ofMillis(50);
    private static final int CONNECT_ATTEMPTS = 26;
    private static final long LONGEST_PAUSE_MILLIS = 100;
    private static final int NUMBER_BYTES = 4;
    private static final int RNR_TIMER = 12;
    private static final long DISCONNECT_WAIT_NANOS = 3_000_000_000L;

    private final Settings settings;
    private final Resources resources;
    private final Handshake handshake;
    private final Console console;
    private final InetSocketAddress local;
    private final @Nullable InetSocketAddress server;
    private final List<CmId> ids = new ArrayList<>();
    private final WorkCompletion[] completion = WorkCompletion.array(1);
    private final ConnectionManager connectionManager;
    private final EventChannel channel;
    private int established;
    private int disconnected;

    /**
     * Creates a connector.
     *
     * @param local the address on which the server listens, or from which the client connects
     * @param server the server's address, or null on the server
     */
    CmConnector(
            Settings settings,
            Resources resources,
            Handshake handshake,
            Console console,
            InetSocketAddress local,
            @Nullable InetSocketAddress server) {
        this.settings = settings;
        this.resources = resources;
        this.handshake = handshake;
        this.console = console;
        this.local = local;
        this.server = server;
        connectionManager = console.environment().rdma().connectionManager();
        channel = connectionManager.openEventChannel();
    }

    @Override
    public void create() throws ToolFailure {
        if (server != null) {
            handshake.exchange(PerftestDestination.EMPTY);
            for (QueuePairRun queuePairRun : resources.queuePairRuns()) {
                connect(queuePairRun, server);
            }
        } else {
            accept();
        }
        handshake.exchange(PerftestDestination.EMPTY);
    }

    @Override
    public void connect() {
        // create() has connected them.
    }

    private PortSpace portSpace() {
        return settings.isDatagram() ? PortSpace.UDP : PortSpace.TCP;
    }

    private ConnectionParameters parameters(int outstanding) {
        int depth = settings.operation.isFetch() ? outstanding : 0;
        return ConnectionParameters.NONE.withDepths(depth, depth).withRetries(settings.retryCount, settings.retryCount);
    }

    /** Returns whether the server must learn the client's queue pair number before it can send datagrams. */
    private boolean needsClientQueuePair() {
        return settings.isDatagram() && (settings.bidirectional || !settings.isBandwidth());
    }

    // ---- client

    /**
     * Connects a queue pair. Refused attempts are repeated, because a server may report that it is ready just before it
     * listens.
     */
    private void connect(QueuePairRun queuePairRun, InetSocketAddress to) throws ToolFailure {
        for (int attempt = 1; !tryToConnect(queuePairRun, to, attempt == CONNECT_ATTEMPTS); attempt++) {
            try {
                Thread.sleep(Math.min(1L << attempt, LONGEST_PAUSE_MILLIS));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ToolFailure(1);
            }
        }
        if (needsClientQueuePair()) {
            sendQueuePairNumber(queuePairRun);
        }
    }

    private void setDatagramPeer(QueuePairRun queuePairRun, CmEvent reply) {
        DatagramParameters peer = ((CmEvent.ServiceResolved) reply).datagram();
        queuePairRun.setDatagramPeer(
                resources.domain().createAddressHandle(peer.addressVector()), peer.queuePairNumber(), peer.queueKey());
    }

    private boolean tryToConnect(QueuePairRun queuePairRun, InetSocketAddress to, boolean last) throws ToolFailure {
        CmId id = console.call("Failed to create RDMA CM ID.", () -> connectionManager.createId(portSpace()));
        try {
            id.resolveAddress(
                    local.getAddress().isAnyLocalAddress() ? null : new InetSocketAddress(local.getAddress(), 0),
                    to,
                    RESOLUTION);
            if (settings.typeOfService != Settings.NONE) {
                id.setTypeOfService(settings.typeOfService);
            }
            id.resolveRoute(RESOLUTION);
            queuePairRun.setQueuePair(
                    id.createQueuePair(resources.domain(), resources.attributes(queuePairRun.index())));
            id.connect(parameters(settings.outstanding));
            if (settings.isDatagram()) {
                setDatagramPeer(queuePairRun, Objects.requireNonNull(id.event()));
            }
            id.migrate(channel);
            ids.add(id);
            established++;
            return true;
        } catch (RdmaException e) {
            id.destroyQueuePair();
            id.close();
            if (last || !wasRefused(e)) {
                throw console.failure(FAILED_TO_CONNECT, e);
            }
            return false;
        }
    }

    /**
     * Returns whether no process serves the port yet. For datagrams the status 1 of the response is interpreted as an
     * errno, as in C.
     */
    private boolean wasRefused(RdmaException e) {
        return e.errno() == (settings.isDatagram() ? Errno.EPERM : Errno.ECONNREFUSED);
    }

    private void sendQueuePairNumber(QueuePairRun queuePairRun) throws ToolFailure {
        console.step(
                "Failed to post send for connection " + queuePairRun.index()
                        + " for RDMA CM UD send connection parameters.",
                () -> queuePairRun
                        .queuePair()
                        .postSend(new SendWorkRequest()
                                .reset(0)
                                .withImmediate(queuePairRun.queuePair().number())
                                .from(queuePairRun.region(), queuePairRun.sendOffset(), NUMBER_BYTES)
                                .to(
                                        Objects.requireNonNull(queuePairRun.handle()),
                                        queuePairRun.remoteQueuePair(),
                                        queuePairRun.remoteQueueKey())
                                .signaled()));
        while (resources.sends().poll(completion) == 0) {
            Thread.onSpinWait();
        }
        if (!completion[0].isSuccess()) {
            throw console.failure(
                    "Failed to send UD connection parameters to the remote node.",
                    completion[0].status().text());
        }
    }

    // ---- server

    private void accept() throws ToolFailure {
        CmId listener =
                console.call("Failed to create RDMA CM server control ID.", () -> channel.createId(portSpace()));
        try {
            console.step("Failed to bind RDMA CM address on the server.", () -> listener.bindAddress(local));
            console.step("Failed to listen on RDMA CM server listen ID.", () -> listener.listen(settings.queuePairs));
            handshake.exchange(PerftestDestination.EMPTY);
            ReceiveTimeout timeout = new ReceiveTimeout();
            while (ids.size() < settings.queuePairs || !settings.isDatagram() && established < settings.queuePairs) {
                CmEvent event = console.call(FAILED_TO_CONNECT, () -> channel.await(EVENT_WAIT));
                if (event != null) {
                    handle(event);
                    timeout.restart();
                } else if (timeout.isExpired()) {
                    throw console.failure(
                            FAILED_TO_CONNECT,
                            ids.size() + " of " + settings.queuePairs
                                    + " connections were requested, and then none for " + timeout.seconds()
                                    + " s; both sides need the same -q");
                } else if (handshake.control().isClosed()) {
                    throw console.failure(
                            FAILED_TO_CONNECT,
                            "the client has exited before all connections were established; both sides need the same"
                                    + " -q");
                }
            }
        } finally {
            listener.close();
        }
    }

    private void handle(CmEvent event) throws ToolFailure {
        try (event) {
            switch (event.type()) {
                case CONNECT_REQUEST -> onRequest(event.id(), event);
                case ESTABLISHED -> established++;
                case DISCONNECTED -> disconnected++;
                case CONNECT_ERROR, UNREACHABLE, REJECTED ->
                    throw console.failure(
                            "RDMA CM event error:\nEvent: " + event.type().text() + "; error: " + event.status() + ".",
                            event.explanation());
                default -> {
                    // Not relevant here.
                }
            }
        }
    }

    private void onRequest(CmId id, CmEvent event) throws ToolFailure {
        if (ids.size() == settings.queuePairs) {
            id.reject(new byte[0]);
            id.close();
            return;
        }
        ids.add(id);
        QueuePairRun queuePairRun = resources.queuePairRuns().get(ids.size() - 1);
        queuePairRun.setQueuePair(console.call(
                "Failed to create QP.",
                () -> id.createQueuePair(resources.domain(), resources.attributes(queuePairRun.index()))));
        if (needsClientQueuePair()) {
            queuePairRun.postReceive(new ReceiveWorkRequest()
                    .reset(0)
                    .into(queuePairRun.region(), queuePairRun.receiveOffset(), QueuePairRun.GRH_BYTES + NUMBER_BYTES));
        }
        int outstanding = settings.isDatagram()
                ? 0
                : Math.max(1, Math.min(settings.outstanding, event.connection().initiatorDepth()));
        console.step("Failed to accept RDMA CM connection.", () -> id.accept(parameters(outstanding)));
        if (settings.connection == ConnectionType.RC) {
            console.step(
                    "Failed to modify QP",
                    () -> queuePairRun.queuePair().modify(new QueuePairAttributes().minRnrTimer(RNR_TIMER)));
        }
        if (needsClientQueuePair()) {
            receiveQueuePairNumber(queuePairRun, id.portNumber());
        }
    }

    private void receiveQueuePairNumber(QueuePairRun queuePairRun, int port) throws ToolFailure {
        ReceiveTimeout timeout = new ReceiveTimeout();
        while (resources.receives().poll(completion) == 0) {
            if (timeout.isExpired() || handshake.control().isClosed()) {
                throw console.failure(
                        "Failed to initialize UD connection parameters for RDMA CM.",
                        "the client has exited, or its first message was lost");
            }
            Thread.onSpinWait();
        }
        WorkCompletion first = completion[0];
        if (!first.isSuccess() || !first.hasImmediate()) {
            throw console.failure(
                    "Failed to poll CQ.",
                    "the client did not send its queue pair number: " + first + "; is it the same tool?");
        }
        queuePairRun.setDatagramPeer(
                console.call(
                        "Failed to initialize UD connection parameters for RDMA CM.",
                        () -> resources
                                .domain()
                                .createAddressHandle(
                                        first,
                                        queuePairRun
                                                .region()
                                                .memory()
                                                .asSlice(
                                                        queuePairRun.receiveOffset(),
                                                        QueuePairRun.GRH_BYTES + NUMBER_BYTES),
                                        port)),
                first.immediate(),
                queuePairRun.queuePair().query().queueKey());
    }

    // ---- the end

    @Override
    public boolean isClosed() {
        try {
            for (CmEvent event = channel.poll(); event != null; event = channel.poll()) {
                handle(event);
            }
            return disconnected > 0;
        } catch (ToolFailure reported) {
            return true;
        }
    }

    /** Waits on the server until the client has disconnected, so that the client's last operations are acknowledged. */
    @Override
    public void awaitDisconnect() {
        long until = System.nanoTime() + DISCONNECT_WAIT_NANOS;
        while (server == null && established > 0 && !isClosed() && System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        for (CmId id : ids) {
            try {
                if (!settings.isDatagram()) {
                    id.disconnect();
                }
            } catch (RdmaException alreadyDisconnected) {
                // The peer disconnected first.
            }
            id.destroyQueuePair();
            id.close();
        }
        channel.close();
    }
}
