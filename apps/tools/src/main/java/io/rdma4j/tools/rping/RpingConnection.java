package io.rdma4j.tools.rping;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The verbs resources of one connection of a server or a client: queue pair, buffers and completions.
 *
 * <p>Used by one thread; {@link #progress} is shared.
 */
final class RpingConnection implements AutoCloseable {
    private static final int SEND_REQUESTS = 16;
    private static final int RECEIVE_REQUESTS = 2;
    private static final long DISCONNECT_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long FLUSH_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final CmId id;
    private final RpingOptions options;
    private final RpingReport report;
    private final RpingProgress progress;
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final RpingBuffers buffers;
    private final SendWorkRequest sendRequest = new SendWorkRequest();
    private final RpingCompletions handler;

    /**
     * Creates the queue pair and the buffers, and posts the first receive.
     *
     * @throws ToolFailure if this fails; the reason has been printed and all resources released
     */
    RpingConnection(CmId id, RpingOptions options, RpingReport report, RpingProgress progress) throws ToolFailure {
        this.id = id;
        this.options = options;
        this.report = report;
        this.progress = progress;
        try {
            domain = create("ibv_alloc_pd failed", () -> id.verbs().createProtectionDomain());
            report.debug("created pd %s", RpingReport.pointer(domain));
            channel = create("ibv_create_comp_channel failed", () -> id.verbs().createCompletionChannel());
            report.debug("created channel %s", RpingReport.pointer(channel));
            completions =
                    create("ibv_create_cq failed", () -> id.verbs().createCompletionQueue(SEND_REQUESTS * 2, channel));
            report.debug("created cq %s", RpingReport.pointer(completions));
            completions.requestNotification(false);
            queuePair = createQueuePair();
            report.debug("created qp %s", RpingReport.pointer(queuePair));
            report.debug("rping_setup_buffers called on cb %s", RpingReport.pointer(this));
            buffers = createBuffers();
            report.debug("allocated & registered buffers...");
            handler =
                    new RpingCompletions(options.server(), queuePair, channel, completions, buffers, progress, report);
            resources.push(handler);
            handler.postReceive();
            progress.process(handler);
            report.debug("cq_thread started.");
        } catch (ToolFailure e) {
            closeAll();
            throw e;
        }
    }

    private <T extends AutoCloseable> T create(String failure, Supplier<T> constructor) throws ToolFailure {
        try {
            T object = constructor.get();
            resources.push(object);
            return object;
        } catch (RdmaException e) {
            report.error(failure);
            report.explain(e);
            report.error("setup_qp failed: " + e.errno().number());
            throw new ToolFailure(e.errno().number());
        }
    }

    private QueuePair createQueuePair() throws ToolFailure {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.reliable(
                completions, new QueuePairCapabilities(SEND_REQUESTS, RECEIVE_REQUESTS, 1, 1, 0));
        try {
            if (!options.ownQueuePair()) {
                QueuePair pair = id.createQueuePair(domain, attributes);
                resources.push(id::destroyQueuePair);
                return pair;
            }
            QueuePair pair = domain.createQueuePair(attributes);
            resources.push(pair);
            pair.modify(new QueuePairAttributes()
                    .state(QueuePairState.INIT)
                    .partitionKeyIndex(0)
                    .port(id.portNumber())
                    .accessFlags(Set.of()));
            return pair;
        } catch (RdmaException e) {
            report.systemError(e.operation(), e);
            report.error("setup_qp failed: -1");
            throw new ToolFailure(-1);
        }
    }

    private RpingBuffers createBuffers() throws ToolFailure {
        try {
            RpingBuffers all = RpingBuffers.create(domain, options, report);
            resources.push(all);
            return all;
        } catch (ToolFailure e) {
            report.error("rping_setup_buffers failed: " + e.status());
            throw e;
        }
    }

    RpingBuffers buffers() {
        return buffers;
    }

    /** Returns the last buffer that the client advertised. Used by the server. */
    RpingMessage remote() {
        return handler.remote();
    }

    RpingProgress progress() {
        return progress;
    }

    /** Waits for the next signal. Any state other than {@code wanted} is a failure. */
    void await(RpingState wanted, String name) throws ToolFailure {
        RpingState state = progress.await();
        if (state != wanted) {
            report.error("wait for " + name + " state " + state.number());
            throw new ToolFailure(-1);
        }
    }

    /** Returns the connection parameters of this side: of a client, and with {@code -q} also of a server. */
    ConnectionParameters parameters() {
        ConnectionParameters parameters =
                ConnectionParameters.NONE.withDepths(1, 1).withRetries(7, 7);
        return options.ownQueuePair() ? parameters.withQueuePairNumber(queuePair.number()) : parameters;
    }

    /** Moves the queue pair to ready-to-send without the connection manager, for {@code -q}. */
    void modifyToReadyToSend() {
        for (QueuePairState target :
                new QueuePairState[] {QueuePairState.INIT, QueuePairState.READY_TO_RECEIVE, QueuePairState.READY_TO_SEND
                }) {
            queuePair.modify(id.initQueuePairAttributes(target));
        }
    }

    /** Sends the control message that the send buffer contains. */
    void sendMessage() throws ToolFailure {
        post(sendRequest.reset(0).from(buffers.send()).signaled());
    }

    /** Advertises a buffer to the server. Used by the client. */
    void advertise(MemoryRegion region) throws ToolFailure {
        RpingMessage message = new RpingMessage(region.address(), region.remoteKey(), options.sizeBytes());
        message.write(buffers.send().memory());
        report.debug("RDMA addr %x rkey %x len %d", message.address(), message.key(), message.sizeBytes());
        sendMessage();
    }

    /** Reads the data that the client advertised. Used by the server. */
    void read(RpingMessage remote) throws ToolFailure {
        if (!fits(remote.sizeBytes(), "RDMA READ of the client's")) {
            return;
        }
        post(sendRequest
                .reset(0)
                .read(remote.address(), remote.key())
                .from(buffers.data(), 0, Integer.toUnsignedLong(remote.sizeBytes()))
                .signaled());
    }

    /** Writes the data back to the buffer that the client advertised. Used by the server. */
    void write(RpingMessage remote) throws ToolFailure {
        int length = RpingPayload.length(buffers.data().memory()) + 1;
        if (!fits(length, "RDMA WRITE of")) {
            return;
        }
        report.debug(
                "rdma write from lkey %x laddr %x len %d",
                buffers.data().localKey(), buffers.data().address(), length);
        post(sendRequest
                .reset(0)
                .write(remote.address(), remote.key())
                .from(buffers.data(), 0, length)
                .signaled());
    }

    /**
     * Checks that a transfer fits the buffer. The C tool posts any length and gets a local protection error from the
     * device.
     */
    private boolean fits(int lengthBytes, String what) {
        long length = Integer.toUnsignedLong(lengthBytes);
        if (length > buffers.data().lengthBytes()) {
            report.error("cq completion failed status 4");
            report.explain("local protection error (LOC_PROT_ERR): the " + what + " " + length
                    + " bytes does not fit this server's buffer of "
                    + buffers.data().lengthBytes() + "; start the server with -S " + length + " or more");
            progress.signal(RpingState.ERROR);
            return false;
        }
        return true;
    }

    private void post(SendWorkRequest request) throws ToolFailure {
        try {
            queuePair.postSend(request);
        } catch (RdmaException e) {
            report.error("post send error " + e.errno().number());
            report.explain(e);
            throw new ToolFailure(e.errno().number());
        }
    }

    /** Disconnects. Waits briefly for the peer's confirmation and for the posted receive to be flushed. */
    void disconnect() {
        try {
            if (options.ownQueuePair()) {
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            }
            id.disconnect();
            progress.awaitState(RpingState.DISCONNECTED, DISCONNECT_WAIT_NANOS);
        } catch (RdmaException e) {
            report.stackTrace(e);
        }
        progress.awaitLastCompletion(FLUSH_WAIT_NANOS);
    }

    /** Closes all resources except the identifier. */
    @Override
    public void close() {
        report.debug("rping_free_buffers called on cb %s", RpingReport.pointer(this));
        closeAll();
    }

    private void closeAll() {
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (RdmaException e) {
                report.stackTrace(e);
            } catch (Exception e) {
                throw new IllegalStateException("closing failed", e);
            }
        }
    }
}
