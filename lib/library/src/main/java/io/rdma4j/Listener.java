package io.rdma4j;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.RdmaTimeoutException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A server's address, at which clients request connections. Thread safe; several threads may accept.
 *
 * {@snippet :
 * try (Listener listener = Listener.bind(new InetSocketAddress(7471))) {
 *     for (ConnectionRequest request : listener) { // ends when the listener is closed
 *         Thread.startVirtualThread(() -> {
 *             try (Connection client = request.accept()) {
 *                 serve(client);
 *             } catch (RdmaException failed) {
 *                 log(failed);
 *             }
 *         });
 *     }
 * }
 * }
 *
 * <p>A server accepts each request in a separate thread, as above: {@link ConnectionRequest#accept()} waits for the client, and
 * fails if the client has disconnected.
 */
public final class Listener implements Iterable<ConnectionRequest>, AutoCloseable {
    private static final int DEFAULT_BACKLOG = 128;

    private final EventChannel channel;
    private final CmId id;
    private final InetSocketAddress address;

    private Listener(EventChannel channel, CmId id) {
        this.channel = channel;
        this.id = id;
        address = Objects.requireNonNull(id.localAddress(), "the listener is not bound");
    }

    /**
     * Listens at an address of this host.
     *
     * @param local the address; a wildcard for all addresses of its family on network interfaces that have a device, of {@code
     *     127.0.0.0/8} only {@code 127.0.0.1}; port 0 for any free port, see {@link #address}
     * @throws io.rdma4j.verbs.RdmaException {@code EADDRINUSE} or {@code EADDRNOTAVAIL} if the port is in use; {@code EADDRNOTAVAIL} if no interface
     *     has the address; {@code ENODEV} if no device has it
     */
    public static Listener bind(InetSocketAddress local) {
        return bind(ConnectionManager.ofProcess(), local);
    }

    /** Listens at an address of the devices of a connection manager, such as a test host's; see {@link #bind(InetSocketAddress)}. */
    public static Listener bind(ConnectionManager manager, InetSocketAddress local) {
        return Opening.open(manager, PortSpace.TCP, (channel, id) -> {
            id.bindAddress(local);
            id.listen(DEFAULT_BACKLOG);
            return new Listener(channel, id);
        });
    }

    /** Returns the address, with the port that was chosen if none was given. */
    public InetSocketAddress address() {
        return address;
    }

    /** Returns the identifier, for features that this layer does not have. */
    public CmId id() {
        return id;
    }

    /**
     * Waits for a client.
     *
     * @throws ClosedException if the listener is closed, before the call or during it
     * @throws io.rdma4j.verbs.InterruptedRdmaException if the thread is interrupted
     */
    public ConnectionRequest accept() {
        ConnectionRequest request = null;
        while (request == null) {
            try (CmEvent event = channel.await()) {
                request = requestOf(event);
            }
        }
        return request;
    }

    /**
     * Waits for a client, like {@link #accept()}, for at most the given time.
     *
     * @throws RdmaTimeoutException if none came
     */
    public ConnectionRequest accept(Duration timeout) {
        Deadline deadline = new Deadline(channel, timeout);
        while (true) {
            try (CmEvent event = channel.await(deadline.remaining())) {
                if (event == null) {
                    throw new RdmaTimeoutException(
                            "accept",
                            "no client has connected to " + Addresses.text(address) + " within " + timeout,
                            "");
                }
                ConnectionRequest request = requestOf(event);
                if (request != null) {
                    return request;
                }
            }
        }
    }

    /** Returns the request of an event, or null for another event, such as the withdrawal of a request. */
    private @Nullable ConnectionRequest requestOf(CmEvent event) {
        if (event.type() == CmEvent.Type.DEVICE_REMOVAL && event.id().equals(id)) {
            throw event.toException("accept");
        }
        return event instanceof CmEvent.ConnectRequest request
                ? new ConnectionRequest(channel.connectionManager(), request)
                : null;
    }

    /**
     * Returns the requests as they arrive. The iteration ends when the listener is closed. It waits in {@link Iterator#hasNext}, which
     * throws {@link io.rdma4j.verbs.InterruptedRdmaException} if the thread is interrupted.
     */
    @Override
    public Iterator<ConnectionRequest> iterator() {
        return new UntilEnd<>(this::accept);
    }

    /**
     * Stops listening. Requests that were not accepted from the listener are rejected, and threads that wait in
     * {@link #accept()} end with {@link ClosedException}. Requests and connections that were taken remain. Closing
     * again has no effect. An interrupted thread also closes the listener, and stays interrupted.
     */
    @Override
    public void close() {
        // The identifier waits for threads that are just taking a request, which an interrupt would end too early.
        boolean wasInterrupted = Thread.interrupted();
        try {
            Cleanup.runAll(List.of(id::close, channel::close));
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String toString() {
        return "listener at " + Addresses.text(address);
    }
}
