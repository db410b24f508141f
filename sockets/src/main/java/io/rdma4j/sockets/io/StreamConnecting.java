package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.sockets.io.StreamEndpoint.State;
import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.wire.rsocket.ConnectData;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a stream endpoint gets its identifier and its connection: it asks a listener for one, or answers a request. Changes the
 * state of the endpoint, under its lock, as the events of the identifier say. Thread safe.
 */
final class StreamConnecting implements ConnectionService.Target {
    /** What an endpoint tells that is to be accepted. */
    private record Accepting(StreamListener listener, AcceptQueue.Answer answer) {}

    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    private static final int MOST_RETRIES = 7;

    private final StreamEndpoint endpoint;
    private @Nullable CmId id;
    private @Nullable Accepting accepting;
    private @Nullable IOException failure;

    StreamConnecting(StreamEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** The identifier of the endpoint, once it is bound or connects. */
    @Nullable
    CmId id() {
        return id;
    }

    /** Why the attempt has failed. */
    @Nullable
    IOException failure() {
        return failure;
    }

    /** Binds the endpoint, which has no identifier; under its lock. */
    void bind(InetSocketAddress local) {
        id = boundId(local);
    }

    private CmId boundId(InetSocketAddress local) {
        CmId made = newId();
        try {
            made.bindAddress(local);
            return made;
        } catch (RuntimeException refused) {
            made.close();
            throw refused;
        }
    }

    private CmId newId() {
        CmId made = ConnectionService.instance().createId(this);
        if (endpoint.settings().reuseAddress()) {
            made.setReuseAddress(true);
        }
        if (endpoint.settings().ipv6Only()) {
            made.setIpv6Only(true);
        }
        if (endpoint.settings().typeOfService() != 0) {
            made.setTypeOfService(endpoint.settings().typeOfService());
        }
        return made;
    }

    // ---- asking for a connection

    /** Begins to connect the endpoint, which is new; under its lock. */
    void start(InetSocketAddress remote) throws IOException {
        InetAddress to = SocketFamily.hostOf(remote.getAddress());
        CmId own = id == null ? newId() : id;
        id = own;
        endpoint.state(State.CONNECTING);
        try {
            own = boundFor(own, to);
            id = own;
            own.resolveAddress(null, new InetSocketAddress(to, remote.getPort()), RESOLVE_TIMEOUT);
        } catch (RuntimeException | Error refused) {
            fail(SocketFailures.ofAny(refused));
            throw refused;
        }
    }

    /** Who is bound to any address of one family connects to those of the other too: Java hardly tells them apart. */
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
        id = null; // the port is free for the new one only when the old one is closed
        bound.close();
        return boundId(new InetSocketAddress(any, local.getPort()));
    }

    /** Closes the endpoint if it is still connecting; a connection that is established by now stays. */
    void giveUp() {
        endpoint.lock.lock();
        try {
            if (endpoint.state() != State.CONNECTING) {
                return;
            }
            failure = new ConnectException("Connection timed out");
            endpoint.state(State.FAILED); // what comes from now on is too late
        } finally {
            endpoint.lock.unlock();
        }
        endpoint.close();
    }

    @Override
    public void onEvent(CmEvent event) {
        try {
            handle(event);
        } catch (RuntimeException | Error failed) {
            if (event.type() == CmEvent.Type.CONNECT_REQUEST) {
                StreamListener.refuseLater(event.id()); // the listener goes on
            } else {
                fail(SocketFailures.ofAny(failed));
            }
        } finally {
            endpoint.waiting.signalAll();
        }
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
                // Of no importance here: a changed address, the end of the time-wait.
            }
        }
    }

    private void resolveRoute(CmId own) {
        RoutePath chosen = endpoint.settings().route();
        if (chosen == null) {
            own.resolveRoute(RESOLVE_TIMEOUT);
        } else {
            own.setPath(chosen);
        }
    }

    private void sendRequest(CmId own) {
        endpoint.lock.lock();
        try {
            if (endpoint.state() == State.CONNECTING) {
                StreamResources made =
                        new StreamResources(own, endpoint.settings().sizes(), endpoint);
                endpoint.stream(new ConnectedStream(made, endpoint.waiting));
                own.connect(parameters(made.protocol().connectData()));
            }
        } finally {
            endpoint.lock.unlock();
        }
    }

    private static ConnectionParameters parameters(ConnectData data) {
        return new ConnectionParameters(data.toByteArray(), 0, 0, true, MOST_RETRIES, MOST_RETRIES, false, 0);
    }

    private void onEstablished(CmEvent event) {
        Accepting accepted;
        endpoint.lock.lock();
        try {
            ConnectedStream made = endpoint.stream();
            if (endpoint.state() != State.CONNECTING || made == null) {
                return;
            }
            StreamProtocol protocol = made.resources().protocol();
            accepted = accepting;
            if (accepted == null) {
                ConnectData peer = ConnectData.parse(event.privateData());
                if (peer == null || !protocol.onPeer(peer)) {
                    failure = new ProtocolException("The peer does not speak version 1 of the rsocket protocol");
                    endpoint.state(State.FAILED);
                    event.id().disconnect();
                    return;
                }
            }
            protocol.start();
            endpoint.state(State.CONNECTED);
        } finally {
            endpoint.lock.unlock();
        }
        endpoint.updateKeepAlive();
        if (accepted != null) {
            accepting = null;
            if (!accepted.listener().onConnected(accepted.answer(), endpoint)) {
                Thread.ofVirtual().start(endpoint::close);
            }
        }
    }

    private void onDisconnected(CmId own) {
        endpoint.lock.lock();
        try {
            ConnectedStream had = endpoint.stream();
            if (had != null && endpoint.state() != State.CLOSED) {
                had.resources().disconnected();
            }
            if (endpoint.state() == State.CONNECTING) {
                fail(SocketFailures.reset("the peer disconnected at once"));
            }
        } finally {
            endpoint.lock.unlock();
        }
        own.disconnect();
    }

    private void fail(IOException why) {
        Accepting accepted;
        endpoint.lock.lock();
        try {
            if (endpoint.state() == State.CLOSED) {
                return;
            }
            ConnectedStream had = endpoint.stream();
            if (endpoint.state() == State.CONNECTED && had != null) {
                had.resources().disconnected();
            } else {
                failure = why;
                endpoint.state(State.FAILED);
            }
            accepted = accepting;
            accepting = null;
        } finally {
            endpoint.lock.unlock();
        }
        if (accepted != null) {
            accepted.listener().onFailed(accepted.answer());
            Thread.ofVirtual().start(endpoint::close);
        }
    }

    // ---- answering a request

    /** Makes the endpoint that of a request, and accepts it. */
    void answer(AcceptQueue.Answer answer, StreamListener listener) {
        AcceptQueue.Request request = answer.request();
        endpoint.lock.lock();
        try {
            answer.endpoint(endpoint);
            accepting = new Accepting(listener, answer);
            id = request.id();
            endpoint.state(State.CONNECTING);
            request.id().setContext(this);
            StreamResources made =
                    new StreamResources(request.id(), endpoint.settings().sizes(), endpoint);
            endpoint.stream(new ConnectedStream(made, endpoint.waiting));
            if (!made.protocol().onPeer(request.peer())) {
                fail(new ProtocolException("The peer's connection data make no sense"));
                return;
            }
            request.id().accept(parameters(made.protocol().connectData()));
        } catch (RuntimeException | Error failed) {
            fail(SocketFailures.ofAny(failed));
        } finally {
            endpoint.lock.unlock();
        }
    }

    /** Fails if the peer has not confirmed the answer to its request. */
    void giveUpUnconfirmed() {
        endpoint.lock.lock();
        try {
            if (endpoint.state() == State.CONNECTING) {
                fail(new ConnectException("Connection timed out (the peer did not confirm the answer to its request)"));
            }
        } finally {
            endpoint.lock.unlock();
        }
    }
}
