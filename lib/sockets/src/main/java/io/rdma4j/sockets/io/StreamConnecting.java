package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.sockets.io.StreamEndpoint.State;
import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.verbs.spi.SharedThread;
import io.rdma4j.wire.rsocket.ConnectData;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The connection setup of a stream endpoint: it sends a request to a listener, or accepts a request. Changes the state
 * of the endpoint, under its lock, according to the events of the identifier. Thread safe.
 */
final class StreamConnecting implements ConnectionService.Target {
    /** The listener and the reply of an endpoint that accepts a request. */
    private record Accepting(StreamListener listener, AcceptQueue.Reply reply) {}

    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    private static final int MAX_RETRIES = 7;

    /**
     * Exponent of the time for which the peer may be silent before a retry is used: 8.6 s. With seven retries, a
     * connection survives a pause of the peer or the network of more than a minute, like a TCP connection
     * (decision 060). Lost packets are retransmitted much earlier.
     */
    private static final int ACK_TIMEOUT = 21;

    /** The minimum pause, in nanoseconds, after which the queue pair gives up the peer. */
    static final long MIN_PAUSE_NANOS = (MAX_RETRIES + 1) * (4_096L << ACK_TIMEOUT);

    /** The maximum time to wait for a peer's first message; later, the calls of the application handle it. */
    private static final long FIRST_MESSAGE_NANOS = 10_000_000_000L;

    /** Allocated in advance, since there may be no memory when it is needed. */
    private static final SharedThread.Failing<StreamConnecting> FAIL =
            (connecting, why) -> connecting.fail(SocketFailures.ofAny(why));

    private static final SharedThread.Failing<StreamEndpoint> CLOSE = (endpoint, _) -> endpoint.close();

    private final StreamEndpoint endpoint;
    private final ConnectionService service;
    private @Nullable CmId id;

    /** True once the request was sent, which the peer must answer. */
    private volatile boolean isRequested;

    /**
     * The request that the endpoint accepts, until the listener has the endpoint or a thread closes it; null for an
     * endpoint that sends a request.
     */
    private volatile @Nullable Accepting accepting;

    private @Nullable IOException failure;

    StreamConnecting(StreamEndpoint endpoint, ConnectionService service) {
        this.endpoint = endpoint;
        this.service = service;
    }

    /** Returns the identifier of the endpoint, or null if it is neither bound nor connecting. */
    @Nullable
    CmId id() {
        return id;
    }

    /** Returns whether the request was sent. */
    boolean isRequested() {
        return isRequested;
    }

    /** Returns the reason why the attempt has failed, or null. */
    @Nullable
    IOException failure() {
        return failure;
    }

    /** Binds the endpoint, which has no identifier. Called with its lock held. */
    void bind(InetSocketAddress local) {
        id = boundId(local);
    }

    private CmId boundId(InetSocketAddress local) {
        return newId(created -> created.bindAddress(local));
    }

    /** Creates an identifier with the settings of the endpoint; {@code prepare} is the last step. */
    private CmId newId(Consumer<CmId> prepare) {
        StreamSettings settings = endpoint.settings();
        CmId created = service.createId(this);
        try {
            if (settings.reuseAddress()) {
                created.setReuseAddress(true);
            }
            if (settings.ipv6Only()) {
                created.setIpv6Only(true);
            }
            if (settings.typeOfService() != 0) {
                created.setTypeOfService(settings.typeOfService());
            }
            created.setAckTimeout(ACK_TIMEOUT);
            prepare.accept(created);
            return created;
        } catch (RuntimeException | Error refused) {
            created.close();
            throw refused;
        }
    }

    // ---- sending a request

    /** Starts to connect the endpoint, which is new. Called with its lock held. */
    void start(InetSocketAddress remote) throws IOException {
        InetAddress to = SocketFamily.hostOf(remote.getAddress());
        InetSocketAddress destination = new InetSocketAddress(to, remote.getPort());
        CmId bound = id;
        CmId current = bound == null ? newId(created -> {}) : bound;
        id = current;
        endpoint.state(State.CONNECTING);
        try {
            if (bound == null) {
                resolveHere(current, destination);
            } else {
                current = boundFor(current, to);
                id = current;
                current.resolveAddress(destination, RESOLVE_TIMEOUT);
            }
        } catch (RuntimeException | Error refused) {
            fail(SocketFailures.ofAny(refused));
            throw refused;
        }
    }

    /**
     * Resolves the address and the route of a new identifier, and sends the request. If the device answers immediately,
     * like the software device, the calling thread does all of this, without a switch to another thread. Otherwise, the
     * service's thread continues.
     *
     * <p>A bound identifier is not moved: it may have an event that the service's thread cannot acknowledge without the
     * lock.
     */
    private void resolveHere(CmId current, InetSocketAddress to) {
        try (EventChannel own = service.openChannel()) {
            current.migrate(own);
            try {
                current.resolveAddress(to, RESOLVE_TIMEOUT);
            } catch (RuntimeException | Error refused) {
                service.take(current);
                throw refused;
            }
            handleEvents(own, current);
        }
    }

    /**
     * Handles the available events, up to the last one before the request. Before that one, the service takes the
     * identifier, since its thread handles the reply. The identifier is not moved again: the service's thread may then
     * need the lock before it acknowledges an event.
     */
    private void handleEvents(EventChannel own, CmId current) {
        boolean isLast = false;
        while (!isLast) {
            CmEvent event = own.poll();
            isLast = event == null || event.type() == CmEvent.Type.ROUTE_RESOLVED;
            if (isLast) {
                service.take(current);
            }
            if (event != null) {
                handleHere(event);
            }
        }
    }

    /**
     * Handles an event in the calling thread. {@link StreamEndpoint#finishConnect} reports a failure, like a failure in
     * the service's thread.
     */
    private void handleHere(CmEvent event) {
        try (event) {
            onEvent(event);
        } catch (RuntimeException | Error failed) {
            fail(SocketFailures.ofAny(failed));
        }
    }

    /**
     * Rebinds an identifier that is bound to the wildcard of the other family. Java hardly distinguishes the two
     * wildcards.
     */
    private CmId boundFor(CmId bound, InetAddress to) {
        InetSocketAddress local = bound.localAddress();
        if (local == null
                || !local.getAddress().isAnyLocalAddress()
                || local.getAddress() instanceof Inet4Address == to instanceof Inet4Address) {
            return bound;
        }
        InetAddress any = (to instanceof Inet4Address ? SocketFamily.IPV4 : SocketFamily.IPV6)
                .any()
                .getAddress();
        id = null; // the port is free for the new identifier only when the old one is closed
        bound.close();
        return boundId(new InetSocketAddress(any, local.getPort()));
    }

    /** Closes the endpoint if it is still connecting; an established connection stays. */
    void giveUp() {
        synchronized (endpoint.lock) {
            if (endpoint.state() != State.CONNECTING) {
                return;
            }
            failure = new ConnectException("Connection timed out");
            endpoint.state(State.FAILED); // later events are ignored
        }
        endpoint.close();
    }

    @Override
    public void onEvent(CmEvent event) {
        handle(event);
        endpoint.changed.raise();
    }

    @Override
    public void onFailure(CmEvent event, Throwable why) {
        if (event.type() == CmEvent.Type.CONNECT_REQUEST) {
            StreamListener.refuseLater(event.id()); // the listener continues
        } else {
            fail(SocketFailures.ofAny(why));
        }
        endpoint.changed.raise();
    }

    private void handle(CmEvent event) {
        switch (event.type()) {
            case ADDRESS_RESOLVED -> resolveRoute(event.id());
            case ROUTE_RESOLVED -> sendRequest(event.id());
            case CONNECT_REQUEST -> endpoint.onRequest(event);
            case ESTABLISHED -> onEstablished(event);
            case DISCONNECTED -> onDisconnected(event.id());
            case ADDRESS_ERROR, ROUTE_ERROR, REJECTED, UNREACHABLE, CONNECT_ERROR, DEVICE_REMOVAL ->
                fail(SocketFailures.ofConnect(event));
            default -> {
                // Irrelevant: a changed address, the end of the time-wait.
            }
        }
    }

    private void resolveRoute(CmId eventId) {
        RoutePath chosen = endpoint.settings().route();
        if (chosen == null) {
            eventId.resolveRoute(RESOLVE_TIMEOUT);
        } else {
            eventId.setPath(chosen);
        }
    }

    private void sendRequest(CmId eventId) {
        synchronized (endpoint.lock) {
            if (endpoint.state() == State.CONNECTING) {
                StreamResources created = new StreamResources(eventId, endpoint.settings(), endpoint.changed);
                endpoint.stream(new ConnectedStream(created, endpoint.changed));
                eventId.connect(parameters(created.protocol().connectData()));
                isRequested = true;
            }
        }
    }

    private static ConnectionParameters parameters(ConnectData data) {
        return ConnectionParameters.NONE
                .withPrivateData(data.toByteArray())
                .withFlowControl(true)
                .withRetries(MAX_RETRIES, MAX_RETRIES);
    }

    private void onEstablished(CmEvent event) {
        Accepting accepted;
        boolean startsAfterPeer;
        synchronized (endpoint.lock) {
            ConnectedStream stream = endpoint.stream();
            if (endpoint.state() != State.CONNECTING || stream == null) {
                return;
            }
            StreamProtocol protocol = stream.resources().protocol();
            accepted = accepting;
            if (accepted == null) {
                ConnectData peer = ConnectData.parse(event.privateData());
                if (peer == null || !protocol.onPeer(peer)) {
                    failure = new ProtocolException("The peer does not use version 1 of the rsocket protocol");
                    endpoint.state(State.FAILED);
                    event.id().disconnect();
                    return;
                }
            }
            startsAfterPeer = accepted != null && stream.resources().isIwarp();
            if (startsAfterPeer) {
                protocol.startAfterPeer();
            } else {
                protocol.start();
            }
            endpoint.state(State.CONNECTED);
        }
        endpoint.updateKeepAlive();
        if (startsAfterPeer) {
            Thread.ofVirtual().name("rdma4j-accepted").start(this::awaitFirstMessage);
        }
        if (accepted != null) {
            if (!accepted.listener().onConnected(accepted.reply(), endpoint)) {
                Thread.ofVirtual().start(endpoint::close);
            }
            accepting = null; // last: if there is no memory for the steps before, the failure is handled with it
        }
    }

    /**
     * Handles the peer's first message, after which this side may send its offer, even if no other thread uses the
     * endpoint.
     */
    private void awaitFirstMessage() {
        endpoint.await(Readiness.OUT, endpoint.nanoTime() + FIRST_MESSAGE_NANOS);
    }

    private void onDisconnected(CmId eventId) {
        synchronized (endpoint.lock) {
            ConnectedStream stream = endpoint.stream();
            if (stream != null && endpoint.state() != State.CLOSED) {
                stream.resources().disconnected();
            }
            if (endpoint.state() == State.CONNECTING) {
                fail(SocketFailures.reset("the peer disconnected immediately"));
            }
        }
        eventId.disconnect();
    }

    private void fail(IOException why) {
        Accepting accepted;
        synchronized (endpoint.lock) {
            if (endpoint.state() == State.CLOSED) {
                return;
            }
            ConnectedStream stream = endpoint.stream();
            if (endpoint.state() == State.CONNECTED && stream != null) {
                stream.resources().disconnected();
            } else {
                failure = why;
                endpoint.state(State.FAILED);
            }
            accepted = accepting;
        }
        if (accepted != null) {
            accepted.listener().onFailed(accepted.reply());
            Thread.ofVirtual().start(() -> SharedThread.insist(CLOSE, endpoint, why));
            accepting = null; // last: this method is repeated if there is no memory for the thread
        }
    }

    // ---- accepting a request

    /**
     * Accepts a request with this endpoint.
     *
     * @throws OutOfMemoryError if there was no memory to start with the request; a later failure fails the endpoint
     */
    void acceptRequest(AcceptQueue.Reply reply, StreamListener listener) {
        AcceptQueue.Request request = reply.request();
        synchronized (endpoint.lock) {
            accepting = new Accepting(listener, reply);
            try {
                reply.endpoint(endpoint);
                id = request.id();
                endpoint.state(State.CONNECTING);
                request.id().setContext(this);
                StreamResources created = new StreamResources(request.id(), endpoint.settings(), endpoint.changed);
                endpoint.stream(new ConnectedStream(created, endpoint.changed));
                if (!created.protocol().onPeer(request.peer())) {
                    fail(new ProtocolException("Invalid connection data from the peer"));
                    return;
                }
                request.id().accept(parameters(created.protocol().connectData()));
            } catch (RuntimeException | Error failed) {
                SharedThread.insist(FAIL, this, failed);
                listener.logRefusal(request.source(), failed);
            }
        }
    }

    /** Fails the endpoint if the peer has not confirmed the reply to its request. */
    void giveUpUnconfirmed() {
        synchronized (endpoint.lock) {
            if (endpoint.state() == State.CONNECTING) {
                fail(new ConnectException("Connection timed out (the peer did not confirm the reply to its request)"));
            }
        }
    }
}
