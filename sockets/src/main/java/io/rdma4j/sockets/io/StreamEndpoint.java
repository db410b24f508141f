package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.rsocket.ConnectData;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A stream socket: unconnected, listening or connected. Nothing here waits but {@link #await} and, for a moment, {@link
 * #close}: what cannot be done now is not done. The faces (sockets, channels, the rsocket calls) are made of it. Thread
 * safe.
 */
public final class StreamEndpoint extends Endpoint implements ConnectionService.Target {
    /** Where an endpoint is in its life. */
    public enum State {
        /** Made, maybe bound. */
        NEW,
        /** Takes connections. */
        LISTENING,
        /** A connection is being set up. */
        CONNECTING,
        /** Connected; the connection may have ended since. */
        CONNECTED,
        /** The attempt to connect has failed. */
        FAILED,
        /** Closed. */
        CLOSED
    }

    /** What an endpoint tells that is to be accepted. */
    private record Accepting(StreamListening listener, AcceptQueue.Answer answer) {}

    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    private static final int MOST_RETRIES = 7;

    private volatile State state = State.NEW;
    private StreamSettings settings;
    private @Nullable CmId id;
    private volatile @Nullable ConnectedStream stream;
    private volatile @Nullable StreamListening listening;
    private @Nullable Accepting accepting;
    private @Nullable IOException failure;
    private @Nullable KeepAlive keepAlive;

    /** Makes an endpoint that is neither bound nor connected. */
    public StreamEndpoint(StreamSettings settings) {
        this.settings = settings;
    }

    // ---- settings and addresses

    /** What it is set to. */
    public StreamSettings settings() {
        return settings;
    }

    /** Changes the settings; sizes count for connections to come. */
    public void settings(StreamSettings value) throws IOException {
        lock.lock();
        try {
            settings = value;
            CmId own = id;
            if (own != null && state != State.CLOSED) {
                own.setTypeOfService(value.typeOfService());
            }
        } catch (RdmaException refused) {
            throw SocketFailures.of(refused);
        } finally {
            lock.unlock();
        }
        updateKeepAlive();
    }

    /** Most payload bytes of a packet of its connection; empty while there is none. */
    OptionalInt pathMtuBytes() {
        lock.lock();
        try {
            ConnectedStream own = stream;
            return own == null || state != State.CONNECTED
                    ? OptionalInt.empty()
                    : OptionalInt.of(own.resources().pathMtuBytes());
        } finally {
            lock.unlock();
        }
    }

    /** Where it is in its life. */
    public State state() {
        return state;
    }

    /** Its address and port, or null while it has none. */
    public @Nullable InetSocketAddress localAddress() {
        CmId own = id;
        return own == null || state == State.CLOSED ? null : own.localAddress();
    }

    /** The peer's address and port, or null while there is none. */
    public @Nullable InetSocketAddress peerAddress() {
        CmId own = id;
        return own == null || state == State.CLOSED ? null : own.peerAddress();
    }

    /**
     * Binds it to a local address; port 0 for any.
     *
     * @throws java.net.BindException if the address is not of this host, or the port is in use
     */
    public void bind(InetSocketAddress local) throws IOException {
        guarded(() -> {
            requireState("bind", State.NEW);
            if (id != null) {
                throw new SocketException("Already bound");
            }
            id = boundId(local);
            return null;
        });
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
        if (settings.reuseAddress()) {
            made.setReuseAddress(true);
        }
        if (settings.ipv6Only()) {
            made.setIpv6Only(true);
        }
        if (settings.typeOfService() != 0) {
            made.setTypeOfService(settings.typeOfService());
        }
        return made;
    }

    // ---- connecting

    /**
     * Begins to connect; {@link Readiness#OUT} tells that the attempt has ended, {@link #finishConnect} how.
     *
     * @throws IOException if the attempt has failed at once; {@link #finishConnect} fails for the same reason
     */
    public void startConnect(InetSocketAddress remote) throws IOException {
        guarded(() -> {
            requireState("connect", State.NEW);
            InetAddress to = SocketFamily.hostOf(remote.getAddress());
            CmId own = id == null ? newId() : id;
            id = own;
            state = State.CONNECTING;
            try {
                own = boundFor(own, to);
                id = own;
                own.resolveAddress(null, new InetSocketAddress(to, remote.getPort()), RESOLVE_TIMEOUT);
            } catch (RuntimeException refused) {
                fail(SocketFailures.ofAny(refused));
                throw refused;
            }
            return null;
        });
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

    /**
     * Whether the attempt to connect has succeeded.
     *
     * @return false while it goes on
     * @throws IOException why it failed, or that the endpoint is closed
     */
    public boolean finishConnect() throws IOException {
        State now = state; // once: it may be closed between two looks
        IOException why = failure;
        if (now == State.FAILED && why != null) {
            throw why;
        } else if (now == State.CLOSED) {
            throw new SocketException("Socket closed");
        }
        return now == State.CONNECTED;
    }

    /** Closes it if it is still connecting; a connection that is established by now stays. */
    public void giveUpConnecting() {
        lock.lock();
        try {
            if (state != State.CONNECTING) {
                return;
            }
            failure = new ConnectException("Connection timed out");
            state = State.FAILED; // what comes from now on is too late
        } finally {
            lock.unlock();
        }
        close();
    }

    @Override
    public void onEvent(CmEvent event) {
        try {
            handle(event);
        } catch (RuntimeException | Error failed) {
            if (event.type() == CmEvent.Type.CONNECT_REQUEST) {
                StreamListening.refuseLater(event.id()); // the listener goes on
            } else {
                fail(SocketFailures.ofAny(failed));
            }
        }
        waiting.signalAll();
    }

    private void handle(CmEvent event) {
        switch (event.type()) {
            case ADDRESS_RESOLVED -> resolveRoute(event.id());
            case ROUTE_RESOLVED -> sendRequest(event.id());
            case CONNECT_REQUEST -> onRequest(event);
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
        RoutePath chosen = settings.route();
        if (chosen == null) {
            own.resolveRoute(RESOLVE_TIMEOUT);
        } else {
            own.setPath(chosen);
        }
    }

    private void sendRequest(CmId own) {
        lock.lock();
        try {
            if (state == State.CONNECTING) {
                StreamResources made = new StreamResources(own, settings.sizes(), this);
                stream = new ConnectedStream(made, waiting);
                own.connect(parameters(made.protocol().connectData()));
            }
        } finally {
            lock.unlock();
        }
    }

    private static ConnectionParameters parameters(ConnectData data) {
        return new ConnectionParameters(data.toByteArray(), 0, 0, true, MOST_RETRIES, MOST_RETRIES, false, 0);
    }

    private void onEstablished(CmEvent event) {
        Accepting accepted;
        lock.lock();
        try {
            ConnectedStream made = stream;
            if (state != State.CONNECTING || made == null) {
                return;
            }
            StreamProtocol protocol = made.resources().protocol();
            accepted = accepting;
            if (accepted == null) {
                ConnectData peer = ConnectData.parse(event.privateData());
                if (peer == null || !protocol.onPeer(peer)) {
                    failure = new ProtocolException("The peer does not speak version 1 of the rsocket protocol");
                    state = State.FAILED;
                    event.id().disconnect();
                    return;
                }
            }
            protocol.start();
            state = State.CONNECTED;
        } finally {
            lock.unlock();
        }
        updateKeepAlive();
        if (accepted != null) {
            accepting = null;
            if (!accepted.listener().onConnected(accepted.answer(), this)) {
                Thread.ofVirtual().start(this::close);
            }
        }
    }

    private void onDisconnected(CmId own) {
        lock.lock();
        try {
            ConnectedStream had = stream;
            if (had != null && state != State.CLOSED) {
                had.resources().disconnected();
            }
            if (state == State.CONNECTING) {
                fail(SocketFailures.reset("the peer disconnected at once"));
            }
        } finally {
            lock.unlock();
        }
        own.disconnect();
    }

    private void fail(IOException why) {
        Accepting accepted;
        lock.lock();
        try {
            if (state == State.CLOSED) {
                return;
            }
            ConnectedStream had = stream;
            if (state == State.CONNECTED && had != null) {
                had.resources().disconnected();
            } else {
                failure = why;
                state = State.FAILED;
            }
            accepted = accepting;
            accepting = null;
        } finally {
            lock.unlock();
        }
        if (accepted != null) {
            accepted.listener().onFailed(accepted.answer());
            Thread.ofVirtual().start(this::close);
        }
    }

    // ---- listening

    /**
     * Takes connections from now on. Requests are answered while fewer than {@code backlog} connections are established that
     * nobody has accepted.
     */
    public void listen(int backlog) throws IOException {
        guarded(() -> {
            if (state == State.LISTENING) {
                return null;
            }
            requireState("listen", State.NEW);
            CmId own = id;
            if (own == null) {
                throw new SocketException("Not bound");
            }
            listening = new StreamListening(this, backlog, waiting);
            own.listen(Math.max(backlog, AcceptQueue.MOST_WAITING)); // it only drops what comes at once
            state = State.LISTENING;
            return null;
        });
    }

    /**
     * A connection that has come, or null.
     *
     * @throws IOException if it can take none any more: its device has gone
     */
    public @Nullable StreamEndpoint accept() throws IOException {
        IOException why = failure;
        if (state == State.FAILED && why != null) {
            throw why;
        }
        StreamListening own = listening;
        return own == null ? null : own.accept();
    }

    private void onRequest(CmEvent event) {
        StreamListening own = listening;
        if (own == null) {
            StreamListening.refuseLater(event.id());
        } else {
            own.onRequest(event);
        }
    }

    /** Becomes the endpoint of a request, and accepts it. */
    void answer(AcceptQueue.Answer answer, StreamListening listener) {
        AcceptQueue.Request request = answer.request();
        lock.lock();
        try {
            answer.endpoint(this);
            accepting = new Accepting(listener, answer);
            id = request.id();
            state = State.CONNECTING;
            request.id().setContext(this);
            StreamResources made = new StreamResources(request.id(), settings.sizes(), this);
            stream = new ConnectedStream(made, waiting);
            if (!made.protocol().onPeer(request.peer())) {
                fail(new ProtocolException("The peer's connection data make no sense"));
                return;
            }
            request.id().accept(parameters(made.protocol().connectData()));
        } catch (RuntimeException | Error failed) {
            fail(SocketFailures.ofAny(failed));
        } finally {
            lock.unlock();
        }
    }

    /** Fails if the peer has not confirmed the answer to its request. */
    void giveUpUnconfirmed() {
        lock.lock();
        try {
            if (state == State.CONNECTING) {
                fail(new ConnectException("Connection timed out (the peer did not confirm the answer to its request)"));
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- data

    /**
     * Reads what is there.
     *
     * @return how many bytes; 0 if there is nothing now; -1 if nothing more will come
     * @throws IOException if the connection was reset
     */
    public int read(ByteBuffer target) throws IOException {
        return receive(target, false);
    }

    /** Like {@link #read}, but leaves the bytes to be read again. */
    public int peek(ByteBuffer target) throws IOException {
        return receive(target, true);
    }

    /** Under the lock as {@link #guarded} does it, but nothing is allocated to read. */
    private int receive(ByteBuffer target, boolean leave) throws IOException {
        lock.lock();
        try {
            return requireConnected().receive(target, leave);
        } catch (RdmaException refused) {
            throw SocketFailures.of(refused);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Writes as much as there is room for.
     *
     * @return how many bytes; 0 if there is no room now
     * @throws IOException if the connection has ended, or this side's output
     */
    public int write(ByteBuffer source) throws IOException {
        lock.lock(); // as guarded does it, but nothing is allocated to write
        try {
            return requireConnected().write(source);
        } catch (RdmaException refused) {
            throw SocketFailures.of(refused);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Writes straight into memory that the peer has mapped.
     *
     * @return how many bytes; 0 if there is no room now; -1 if nothing is mapped there
     */
    public int writeMapped(ByteBuffer source, long offset) throws IOException {
        return guarded(() -> requireConnected().writeMapped(source, offset));
    }

    /** Bytes that can be read at once. */
    public int availableBytes() throws IOException {
        return guarded(() -> requireConnected().availableBytes());
    }

    /** Reads no more. */
    public void shutdownInput() throws IOException {
        guarded(() -> {
            requireConnected().shutdownInput();
            return null;
        });
        waiting.signalAll();
    }

    /** Writes no more; the peer reads to the end of what was written. */
    public void shutdownOutput() throws IOException {
        guarded(() -> {
            requireConnected().shutdownOutput();
            return null;
        });
        waiting.signalAll();
    }

    /** Does something with the connection's protocol and memory; for {@link StreamMapping}. */
    <T extends @Nullable Object> T withResources(IoCall<StreamResources, T> call) throws IOException {
        return guarded(() -> call.call(requireConnected().resources()));
    }

    /** Takes memory back that the peer may write to: also while the closed connection goes on until all is delivered. */
    void unmap(MemoryRegion region, int index, long offset) {
        lock.lock();
        try {
            ConnectedStream own = stream;
            if (own == null) {
                return; // it went with the connection
            }
            if (state == State.CONNECTED) {
                own.resources().protocol().unmap(index, offset);
            }
            own.resources().unmap(region);
        } finally {
            lock.unlock();
        }
    }

    private ConnectedStream requireConnected() throws SocketException {
        ConnectedStream own = stream;
        if (own == null || state != State.CONNECTED) {
            throw new SocketException(state == State.CLOSED ? "Socket closed" : "Not connected");
        }
        return own;
    }

    // ---- readiness and waiting

    @Override
    public int knownReadiness() {
        return look(Look.KNOWN);
    }

    @Override
    public int readiness() {
        return look(Look.NOW);
    }

    @Override
    public int readinessToWait() {
        return look(Look.TO_WAIT);
    }

    private int look(Look look) {
        return switch (state) {
            case NEW -> 0;
            case LISTENING -> isAcceptable() ? Readiness.IN : 0;
            case CONNECTING -> 0;
            case FAILED -> Readiness.IN | Readiness.OUT | Readiness.ERROR;
            case CLOSED -> Readiness.IN | Readiness.OUT | Readiness.HANG_UP;
            case CONNECTED -> lookAtStream(look);
        };
    }

    private boolean isAcceptable() {
        StreamListening own = listening;
        return own != null && own.isReady();
    }

    private int lookAtStream(Look look) {
        lock.lock();
        try {
            ConnectedStream own = stream;
            return own == null || state != State.CONNECTED
                    ? Readiness.IN | Readiness.OUT | Readiness.HANG_UP
                    : own.readiness(look);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public @Nullable CompletionHub hub() {
        ConnectedStream own = stream;
        return own == null || state != State.CONNECTED ? null : own.resources().hub();
    }

    @Override
    void takeCompletions() {
        ConnectedStream own = stream;
        if (own != null) {
            own.resources().disarmed();
            own.resources().progress();
        }
    }

    // ---- signs of life

    private void updateKeepAlive() {
        lock.lock();
        try {
            if (keepAlive != null) {
                keepAlive.stop();
                keepAlive = null;
            }
            if (state == State.CONNECTED && settings.keepAliveSeconds() > 0) {
                keepAlive = new KeepAlive(this, settings.keepAliveSeconds());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Sends a sign of life. */
    void keepAlive() throws IOException {
        guarded(() -> {
            requireConnected().keepAlive();
            return null;
        });
        waiting.signalAll();
    }

    // ---- end

    @Override
    public boolean isClosed() {
        return state == State.CLOSED;
    }

    /**
     * Closes it. What was written still reaches the peer: this waits for it a moment, and then lets a thread of its own wait
     * on. Threads that wait find it closed. Closing twice does nothing.
     */
    @Override
    public void close() {
        close(StreamClosing.LINGER_NANOS);
    }

    /**
     * Closes it, as {@link #close()}.
     *
     * @param lingerNanos how long this may wait until the peer has all that was written; 0 to drop what it has not
     */
    public void close(long lingerNanos) {
        close(lingerNanos > 0, lingerNanos, Math.max(lingerNanos, StreamClosing.MOST_NANOS));
    }

    /** Closes it, as {@link #close()}, and waits until the peer has all that was written or is given up. */
    public void closeAndWait() {
        close(true, StreamClosing.MOST_NANOS, StreamClosing.MOST_NANOS);
    }

    /** Closes it, as {@link #close()}, and does not wait. */
    public void closeWithoutWaiting() {
        close(true, 0, StreamClosing.MOST_NANOS);
    }

    /** Closes it, orderly or not; the peer is given up when {@code mostNanos} are over. */
    void close(boolean orderly, long lingerNanos, long mostNanos) {
        State before;
        lock.lock();
        try {
            before = state;
            if (before == State.CLOSED) {
                return;
            }
            state = State.CLOSED;
            ConnectedStream own = stream;
            if (before == State.CONNECTED && own != null && orderly) {
                own.resources().protocol().disconnect();
            }
            if (keepAlive != null) {
                keepAlive.stop();
            }
        } finally {
            lock.unlock();
        }
        waiting.signalAll();
        StreamListening listener = listening;
        if (listener != null) {
            listener.close();
        }
        CmId own = id;
        ConnectedStream had = stream;
        if (own != null && had != null) {
            StreamClosing end = new StreamClosing(lock, waiting, had, own, () -> stream = null);
            if (before == State.CONNECTED && orderly) {
                end.run(lingerNanos, mostNanos);
            } else {
                end.release();
            }
        } else if (own != null) {
            own.close();
        }
    }

    // ---- calls

    /** Something that may fail. */
    interface IoCall<A, T extends @Nullable Object> {
        T call(A argument) throws IOException;
    }

    private void requireState(String operation, State wanted) throws SocketException {
        if (state != wanted) {
            throw new SocketException("Cannot " + operation + ": the socket is " + state);
        }
    }
}
