package io.rdma4j.tools.perftest;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** A control channel over a separate reliable connection of the connection manager. */
final class CmControlChannel implements ControlChannel {
    private static final int RETRIES = 7;

    private final Console console;
    private final CmId id;

    /** The channel of the identifier's events once it is connected, such as the peer's disconnect. */
    private final EventChannel channel;

    private final Arena arena = Arena.ofShared();
    private final ProtectionDomain domain;
    private final CompletionQueue sends;
    private final CompletionQueue receives;
    private final MemoryRegion region;
    private final QueuePair queuePair;
    private final WorkCompletion[] completion = WorkCompletion.array(1);

    /** The length of the C structure. The oldest version is assumed until the peer's version is known. */
    private int destinationBytes = PerftestDestination.bytes(0);

    private boolean closedByPeer;
    private boolean expectsRuns;

    /** Creates the queue pair of a resolved or requested identifier and posts the first receive. */
    private CmControlChannel(Console console, CmId id, int completionVector) {
        this.console = console;
        this.id = id;
        channel = console.environment().rdma().connectionManager().openEventChannel();
        domain = id.verbs().createProtectionDomain();
        sends = id.verbs().createCompletionQueue(1, null, null, completionVector);
        receives = id.verbs().createCompletionQueue(1, null, null, completionVector);
        region = domain.register(arena.allocate(2L * PerftestDestination.MAX_BYTES), AccessFlag.LOCAL_WRITE);
        queuePair = id.createQueuePair(
                domain,
                QueuePairInitAttributes.of(new QueuePairCapabilities(1, 1, 1, 1, 0))
                        .withCompletions(sends)
                        .withReceiveCompletions(receives));
        postReceive();
    }

    /** Connects as the client, with an identifier whose route is resolved. */
    static CmControlChannel connect(Console console, CmId id, int completionVector) {
        CmControlChannel control = new CmControlChannel(console, id, completionVector);
        id.connect(ConnectionParameters.NONE.withRetries(RETRIES, RETRIES));
        id.migrate(control.channel);
        return control;
    }

    /** Accepts a connection as the server, with the identifier of a connection request. */
    static CmControlChannel accept(Console console, CmId id, int completionVector) {
        CmControlChannel control = new CmControlChannel(console, id, completionVector);
        id.accept(ConnectionParameters.NONE.withRetries(RETRIES, RETRIES));
        id.migrate(control.channel);
        return control;
    }

    /** Returns the identifier, which determines the device and the addresses of the run. */
    CmId id() {
        return id;
    }

    private void postReceive() {
        queuePair.postReceive(new ReceiveWorkRequest().reset(0).into(region, 0, PerftestDestination.MAX_BYTES));
    }

    @Override
    public void send(byte[] data) throws ToolFailure {
        MemorySegment.copy(data, 0, region.memory(), ValueLayout.JAVA_BYTE, PerftestDestination.MAX_BYTES, data.length);
        console.step(
                "Function ibv_post_send failed",
                () -> queuePair.postSend(new SendWorkRequest()
                        .reset(0)
                        .from(region, PerftestDestination.MAX_BYTES, data.length)
                        .signaled()));
        await(sends);
    }

    @Override
    public byte[] receive(int length) throws ToolFailure {
        await(receives);
        byte[] data = new byte[length];
        MemorySegment.copy(region.memory(), ValueLayout.JAVA_BYTE, 0, data, 0, length);
        console.step("Function ibv_post_recv failed for RDMA_CM QP", this::postReceive);
        return data;
    }

    @Override
    public void peerVersion(double version) {
        destinationBytes = PerftestDestination.bytes(version);
    }

    @Override
    public void sendDestination(PerftestDestination destination) throws ToolFailure {
        send(destination.toBytes(destinationBytes));
    }

    @Override
    public PerftestDestination receiveDestination() throws ToolFailure {
        return PerftestDestination.ofBytes(receive(destinationBytes));
    }

    private void await(CompletionQueue queue) throws ToolFailure {
        Spin spin = new Spin();
        boolean closed = false;
        ReceiveTimeout timeout = new ReceiveTimeout();
        while (queue.poll(completion) == 0) {
            if (!spin.idle()) {
                continue;
            }
            if (closed) {
                throw peerClosed("the connection for the parameter exchange was closed");
            }
            // Messages sent before the disconnect may still be completed by the next polls.
            closed = isClosed();
            if (!expectsRuns && timeout.isExpired()) {
                throw console.noParameters(timeout);
            }
        }
        if (!completion[0].isSuccess()) {
            throw peerClosed(
                    completion[0].status() + " (" + completion[0].status().text() + ") in the parameter exchange");
        }
    }

    private ToolFailure peerClosed(String what) {
        return console.failure(
                " Unable to read from socket/rdma_cm",
                what + ": the peer has exited, or was started with other options");
    }

    @Override
    public void expectRuns() {
        expectsRuns = true;
    }

    @Override
    public void driveWith(@Nullable Runnable progressTask) {
        // Polling any completion queue drives its completion vector, which all queues of a run share.
    }

    @Override
    public boolean isClosed() {
        for (CmEvent event = channel.poll(); event != null; event = channel.poll()) {
            closedByPeer |= event.type() == CmEvent.Type.DISCONNECTED || event.type() == CmEvent.Type.DEVICE_REMOVAL;
            event.acknowledge();
        }
        return closedByPeer;
    }

    @Override
    public void sendDone() {
        // There is no message after the last exchange.
    }

    @Override
    public void close() {
        id.destroyQueuePair();
        id.close();
        channel.close();
        sends.close();
        receives.close();
        region.close();
        domain.close();
        arena.close();
    }
}
