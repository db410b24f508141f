package io.rdma4j;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * A client that wants to connect: {@link Listener#accept()}. The program accepts or rejects it; closing an unanswered
 * request rejects it. It may be answered after its listener is closed. Used by one thread at a time.
 */
public final class ConnectionRequest extends ConnectionSetup<ConnectionRequest> implements AutoCloseable {
    /** The time by which the event of a withdrawal may follow the failure that it causes. */
    private static final Duration WITHDRAWAL = Duration.ofMillis(100);

    private final EventChannel channel;
    private final CmId id;
    private final Peer peer;
    private final AtomicBoolean isAnswered = new AtomicBoolean();

    /** Takes the request of an event. Afterwards it no longer belongs to the listener. */
    ConnectionRequest(ConnectionManager manager, CmEvent.ConnectRequest event) {
        id = event.id();
        try {
            channel = manager.openEventChannel();
        } catch (RuntimeException | Error failed) {
            event.acknowledge(); // closing the identifier waits for it
            Cleanup.after(failed, id::close);
            throw failed;
        }
        try {
            id.migrate(channel);
        } catch (RuntimeException | Error failed) {
            event.acknowledge();
            Cleanup.after(failed, id::close);
            Cleanup.after(failed, channel::close);
            throw failed;
        }
        InetSocketAddress address = Objects.requireNonNull(id.peerAddress(), "the request has no address");
        peer = new Peer(address, event.privateData());
    }

    @Override
    ConnectionRequest self() {
        return this;
    }

    /** Returns the client, with the data of its request. */
    public Peer peer() {
        return peer;
    }

    /** Returns the identifier, for features that this layer does not have. */
    public CmId id() {
        return id;
    }

    /**
     * Accepts the request. Returns when the client has confirmed, so that the connection can be used.
     *
     * @throws io.rdma4j.verbs.RdmaTimeoutException if the client does not confirm in time
     * @throws io.rdma4j.verbs.DisconnectedException if the client disconnects immediately
     * @throws io.rdma4j.cm.ConnectionRejectedException if the client has withdrawn its request; on the kernel's devices an {@link
     *     RdmaException} with {@code EINVAL}, since the kernel reports no withdrawal
     * @throws IllegalStateException if the request was answered before
     */
    public Connection accept() {
        return start().await();
    }

    /**
     * Starts accepting the request: sends the acceptance. {@link Connecting#await} waits for the client's confirmation.
     *
     * @throws io.rdma4j.cm.ConnectionRejectedException if the client has withdrawn its request; on the kernel's devices an {@link
     *     RdmaException} with {@code EINVAL}, since the kernel reports no withdrawal
     * @throws IllegalStateException if the request was answered before
     */
    public Connecting start() {
        beginAnswer();
        try {
            ConnectionEvents events = new ConnectionEvents(channel, id);
            Steps steps = new Steps(
                    channel, "accept", Addresses.text(peer.address()), options().timeout());
            Connection connection = step(() -> new Connection(events, this));
            return connection.begin(() -> step(this::sendAcceptance), steps);
        } catch (RuntimeException | Error failed) {
            Cleanup.after(failed, id::close);
            Cleanup.after(failed, channel::close);
            throw failed;
        }
    }

    /** Runs a step of the acceptance, and reports its failure as the withdrawal of the request if that is the reason. */
    private <T> T step(Supplier<T> step) {
        try {
            return step.get();
        } catch (RdmaException refused) {
            try (CmEvent event = channel.await(WITHDRAWAL)) {
                if (event != null) {
                    throw event.toException("accept");
                }
            } catch (InterruptedRdmaException interrupted) {
                refused.addSuppressed(interrupted);
            }
            throw refused;
        }
    }

    private boolean sendAcceptance() {
        id.accept(parameters(id));
        return true;
    }

    /**
     * Rejects the request.
     *
     * @throws IllegalStateException if the request was answered before
     */
    public void reject() {
        reject(new byte[0]);
    }

    /**
     * Rejects the request with data for the client: {@link io.rdma4j.cm.ConnectionRejectedException#privateData}.
     *
     * @param data at most {@link io.rdma4j.cm.ConnectionParameters#REJECT_PRIVATE_DATA} bytes
     * @throws IllegalStateException if the request was answered before
     */
    public void reject(byte[] data) {
        beginAnswer();
        sendRejection(data);
    }

    private void sendRejection(byte[] data) {
        try (channel;
                id) {
            id.reject(data);
        }
    }

    private void beginAnswer() {
        if (!isAnswered.compareAndSet(false, true)) {
            throw new IllegalStateException("the request was answered before");
        }
    }

    /** Rejects the request if it was not answered. */
    @Override
    public void close() {
        if (isAnswered.compareAndSet(false, true)) {
            sendRejection(new byte[0]);
        }
    }

    @Override
    public String toString() {
        return "connection request of " + Addresses.text(peer.address());
    }
}
