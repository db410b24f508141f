package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.WaitDriver;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A stream socket without its Java API: unconnected, listening or connected. Only {@link #await} and, briefly,
 * {@link #close} block. Other calls do what is possible immediately. The APIs (sockets, channels, the rsocket calls)
 * are built on this class (decision 014). Thread safe.
 */
public final class StreamEndpoint extends SocketEndpoint {
    /** The state of an endpoint. */
    public enum State {
        /** Created, possibly bound. */
        NEW,
        /** Accepts connections. */
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

    private final ConnectionService service;
    private final StreamConnecting connecting;

    private volatile State state = State.NEW;
    private volatile StreamSettings settings;
    private volatile @Nullable ConnectedStream stream;
    private volatile @Nullable StreamListener listening;
    private @Nullable KeepAlive keepAlive;

    /** Creates an endpoint that is neither bound nor connected. */
    public StreamEndpoint(ConnectionService service, StreamSettings settings) {
        this.service = service;
        this.settings = settings;
        connecting = new StreamConnecting(this, service);
    }

    /** Creates another endpoint with the same settings, neither bound nor connected. */
    public StreamEndpoint another() {
        return new StreamEndpoint(service, settings);
    }

    // ---- settings and addresses

    /** Returns the settings. */
    public StreamSettings settings() {
        return settings;
    }

    /** Changes the settings. Sizes apply to later connections. */
    public void settings(StreamSettings value) throws IOException {
        synchronized (lock) {
            try {
                settings = value;
                CmId id = connecting.id();
                if (id != null && state != State.CLOSED) {
                    id.setTypeOfService(value.typeOfService());
                }
            } catch (RdmaException refused) {
                throw SocketFailures.of(refused);
            }
        }
        updateKeepAlive();
    }

    /** Returns the maximum number of payload bytes of a packet; empty while there is no connection. */
    OptionalInt pathMtuBytes() {
        synchronized (lock) {
            ConnectedStream current = stream;
            return current == null || state != State.CONNECTED
                    ? OptionalInt.empty()
                    : OptionalInt.of(
                            current.resources().queuePairAttributes().pathMtu().bytes());
        }
    }

    /** Returns the state. */
    public State state() {
        return state;
    }

    /** Returns the local address and port, or null if there is none. */
    public @Nullable InetSocketAddress localAddress() {
        CmId id = connecting.id();
        InetSocketAddress local = id == null || state == State.CLOSED ? null : id.localAddress();
        return local == null ? null : SocketFamily.withoutName(local);
    }

    /** Returns the peer's address and port, or null if there is none. */
    public @Nullable InetSocketAddress peerAddress() {
        CmId id = connecting.id();
        return id == null || state == State.CLOSED ? null : id.peerAddress();
    }

    /**
     * Binds the endpoint to a local address; port 0 selects any free port.
     *
     * @throws java.net.BindException if the address is not local, or the port is in use
     */
    public void bind(InetSocketAddress local) throws IOException {
        try {
            guarded(() -> {
                requireState("bind", State.NEW);
                if (connecting.id() != null) {
                    throw new SocketException("Already bound");
                }
                connecting.bind(local);
                return null;
            });
        } catch (BindException refused) {
            // C reports a conflict with a wildcard as EADDRNOTAVAIL; programs expect the text of Java
            throw SocketFailures.isUnavailable(refused) && isPortTaken(local)
                    ? SocketFailures.portInUse(refused)
                    : refused;
        }
    }

    /**
     * Returns whether binding to an address has failed because of the port: another port can be bound. Otherwise RDMA
     * cannot be used at the address, for example because a program that does not share UDP port 4791 has bound it.
     */
    public boolean isPortTaken(InetSocketAddress local) {
        if (local.getPort() == 0) {
            return false;
        }
        StreamEndpoint probe = another();
        try {
            probe.guarded(() -> {
                probe.connecting.bind(new InetSocketAddress(local.getAddress(), 0));
                return null;
            });
            return true;
        } catch (IOException unusable) {
            return false;
        } finally {
            probe.close();
        }
    }

    // ---- connecting

    /**
     * Starts to connect. {@link Readiness#OUT} reports the end of the attempt, and {@link #finishConnect} its result.
     *
     * @throws IOException if the attempt has failed immediately; {@link #finishConnect} fails for the same reason
     */
    public void startConnect(InetSocketAddress remote) throws IOException {
        guarded(() -> {
            requireState("connect", State.NEW);
            connecting.start(remote);
            return null;
        });
    }

    /**
     * Returns whether the attempt to connect has succeeded.
     *
     * @return false while the attempt continues
     * @throws IOException if the attempt has failed, or the endpoint is closed
     */
    public boolean finishConnect() throws IOException {
        State now = state; // read once: it may be closed concurrently
        IOException why = connecting.failure();
        if (now == State.FAILED && why != null) {
            throw why;
        } else if (now == State.CLOSED) {
            throw new SocketException("Socket closed");
        }
        return now == State.CONNECTED;
    }

    /**
     * Returns whether the request was sent. A timeout, which is for the peer, does not include earlier work of this
     * process, such as opening the device for the first socket. The signal is raised after the request was sent.
     */
    public boolean isRequested() {
        return connecting.isRequested();
    }

    /** Returns the reason why the attempt to connect has failed, or null. */
    public @Nullable IOException connectFailure() {
        return connecting.failure();
    }

    /** Returns the peers that refused RDMA or did not answer, for all endpoints of the connection service. */
    public RefusedPeers refusedPeers() {
        return service.refusedPeers();
    }

    /** Closes the endpoint if it is still connecting; an established connection stays. */
    public void giveUpConnecting() {
        connecting.giveUp();
    }

    /** Accepts a request with this endpoint. */
    void acceptRequest(AcceptQueue.Reply reply, StreamListener listener) {
        connecting.acceptRequest(reply, listener);
    }

    /** Fails the endpoint if the peer has not confirmed the reply to its request. */
    void giveUpUnconfirmed() {
        connecting.giveUpUnconfirmed();
    }

    /** Changes the state. Called with the lock held. */
    void state(State next) {
        state = next;
    }

    /** Returns the connection, from setup until its memory is released; null if there is none. */
    @Nullable
    ConnectedStream stream() {
        return stream;
    }

    /** Sets the connection that is being set up. Called with the lock held. */
    void stream(ConnectedStream created) {
        stream = created;
    }

    // ---- listening

    /**
     * Listens for connections. Requests are accepted while fewer than {@code backlog} established connections wait for
     * {@link #accept}.
     */
    public void listen(int backlog) throws IOException {
        guarded(() -> {
            if (state == State.LISTENING) {
                return null;
            }
            requireState("listen", State.NEW);
            CmId id = connecting.id();
            if (id == null) {
                throw new SocketException("Not bound");
            }
            listening = new StreamListener(this, backlog, changed);
            id.listen(Math.max(backlog, AcceptQueue.MAX_WAITING)); // this limit applies only to simultaneous requests
            state = State.LISTENING;
            return null;
        });
    }

    /**
     * Returns an established connection, or null.
     *
     * @throws IOException if the listener has failed because its device was removed
     */
    public @Nullable StreamEndpoint accept() throws IOException {
        IOException why = connecting.failure();
        if (state == State.FAILED && why != null) {
            throw why;
        }
        StreamListener current = listening;
        return current == null ? null : current.accept();
    }

    /** Handles a connection request; rejects it if the endpoint does not listen. */
    void onRequest(CmEvent event) {
        StreamListener current = listening;
        if (current == null) {
            StreamListener.refuseLater(event.id());
        } else {
            current.onRequest(event);
        }
    }

    // ---- data

    /**
     * Reads available bytes.
     *
     * @return the number of bytes read; 0 if none are available; -1 at end of stream
     * @throws IOException if the connection was reset
     */
    public int read(ByteBuffer target) throws IOException {
        return receive(target, false);
    }

    /** Reads like {@link #read}, but leaves the bytes to be read again. */
    public int peek(ByteBuffer target) throws IOException {
        return receive(target, true);
    }

    /** Receives under the lock, like {@link #guarded} but without allocating a closure per read. */
    private int receive(ByteBuffer target, boolean leave) throws IOException {
        synchronized (lock) {
            try {
                return requireConnected().receive(target, leave);
            } catch (RdmaException refused) {
                throw SocketFailures.of(refused);
            } catch (Error failed) {
                onError(reason(failed));
                throw failed;
            }
        }
    }

    /**
     * Writes as many bytes as fit into the send buffer.
     *
     * @return the number of bytes written; 0 if none fit now
     * @throws IOException if the connection, or the output of this side, has ended
     */
    public int write(ByteBuffer source) throws IOException {
        // like guarded, but without allocating a closure per write
        synchronized (lock) {
            try {
                return requireConnected().write(source);
            } catch (RdmaException refused) {
                throw SocketFailures.of(refused);
            } catch (Error failed) {
                onError(reason(failed));
                throw failed;
            }
        }
    }

    /**
     * Writes directly into memory that the peer has mapped.
     *
     * @return the number of bytes written; 0 if none fit now; -1 if nothing is mapped at the offset
     */
    public int writeMapped(ByteBuffer source, long offset) throws IOException {
        return guarded(() -> requireConnected().writeMapped(source, offset));
    }

    /** Returns the number of bytes that can be read without blocking. */
    public int availableBytes() throws IOException {
        return guarded(() -> requireConnected().availableBytes());
    }

    /** Ends the input. */
    public void shutdownInput() throws IOException {
        guarded(() -> {
            requireConnected().shutdownInput();
            return null;
        });
        changed.raise();
    }

    /** Ends the output; the peer can read all bytes written before. */
    public void shutdownOutput() throws IOException {
        guarded(() -> {
            requireConnected().shutdownOutput();
            return null;
        });
        changed.raise();
    }

    /** Runs a call with the connection's protocol and memory, for {@link StreamMapping}. */
    <T extends @Nullable Object> T withResources(IoCall<StreamResources, T> call) throws IOException {
        return guarded(() -> call.call(requireConnected().resources()));
    }

    /** Revokes the peer's access to memory, even while a closed connection still delivers data. */
    void unmap(MemoryRegion region, int index, long offset) {
        synchronized (lock) {
            ConnectedStream current = stream;
            if (current == null) {
                return; // released with the connection
            }
            try {
                if (state == State.CONNECTED) {
                    current.resources().protocol().unmap(index, offset);
                }
            } finally {
                current.resources().unmap(region);
            }
        }
    }

    private ConnectedStream requireConnected() throws SocketException {
        ConnectedStream current = stream;
        if (current == null || state != State.CONNECTED) {
            throw new SocketException(state == State.CLOSED ? "Socket closed" : "Not connected");
        }
        return current;
    }

    // ---- readiness and waiting

    @Override
    int check(Check check) {
        return switch (state) {
            case NEW -> 0;
            case LISTENING -> isAcceptable() ? Readiness.IN : 0;
            case CONNECTING -> 0;
            case FAILED -> Readiness.IN | Readiness.OUT | Readiness.ERROR;
            case CLOSED -> Readiness.IN | Readiness.OUT | Readiness.HANG_UP;
            case CONNECTED -> checkStream(check);
        };
    }

    private boolean isAcceptable() {
        StreamListener current = listening;
        return current != null && current.isReady();
    }

    private int checkStream(Check check) {
        synchronized (lock) {
            ConnectedStream current = stream;
            try {
                return current == null || state != State.CONNECTED
                        ? Readiness.IN | Readiness.OUT | Readiness.HANG_UP
                        : current.readiness(check);
            } catch (Error failed) {
                onError(reason(failed));
                throw failed;
            }
        }
    }

    @Override
    void onError(String why) {
        ConnectedStream current = stream;
        if (current != null) {
            current.resources().protocol().fail(why);
        }
    }

    /** Connecting and listening endpoints wait for the connection manager, connected ones for their queue pair. */
    @Override
    public @Nullable WaitDriver waitDriver() {
        ConnectedStream current = stream;
        if (current != null && state == State.CONNECTED) {
            return current.resources().waitDriver();
        }
        return state == State.CONNECTING || state == State.LISTENING ? service.waitDriver() : null;
    }

    @Override
    WaitDriver stackDriver() {
        return service.waitDriver();
    }

    @Override
    public boolean yields() {
        return state == State.LISTENING;
    }

    // ---- keep-alive

    /** Starts or stops keep-alives according to the state and the settings. */
    void updateKeepAlive() {
        synchronized (lock) {
            if (keepAlive != null) {
                keepAlive.stop();
                keepAlive = null;
            }
            if (state == State.CONNECTED && settings.keepAlive().idleSeconds() > 0) {
                keepAlive = new KeepAlive(this, settings.keepAlive());
            }
        }
    }

    /** Sends a keep-alive. Returns the number of completions before it. */
    long keepAlive() throws IOException {
        long before = guarded(() -> requireConnected().keepAlive());
        changed.raise();
        return before;
    }

    /** Returns the number of completions so far. The signal is raised at later completions. */
    long completionsToWait() throws IOException {
        return guarded(() -> requireConnected().completionsToWait());
    }

    /** Breaks the connection, as if the peer had reset it. */
    void reset(String why) {
        synchronized (lock) {
            onError(why);
        }
        changed.raise();
    }

    // ---- end

    @Override
    public boolean isClosed() {
        return state == State.CLOSED;
    }

    /**
     * Closes the endpoint. Written bytes still reach the peer: this method waits at most one second, and then a virtual
     * thread continues to wait. Waiting threads return. Closing a closed endpoint has no effect.
     */
    @Override
    public void close() {
        close(StreamClosing.LINGER_NANOS);
    }

    /**
     * Closes the endpoint like {@link #close()}.
     *
     * @param lingerNanos the maximum time to wait until the peer has received all written bytes; 0 to drop the
     *     remaining ones
     */
    public void close(long lingerNanos) {
        close(lingerNanos > 0, lingerNanos, Math.max(lingerNanos, StreamClosing.MAX_NANOS));
    }

    /**
     * Closes the endpoint like {@link #close()}, but waits until the peer has received all written bytes or is given
     * up.
     */
    public void closeAndWait() {
        close(true, StreamClosing.MAX_NANOS, StreamClosing.MAX_NANOS);
    }

    /** Closes the endpoint like {@link #close()}, without waiting. */
    public void closeWithoutWaiting() {
        close(true, 0, StreamClosing.MAX_NANOS);
    }

    /** Closes the endpoint, in an orderly way or not. The peer is given up after {@code maxNanos}. */
    void close(boolean orderly, long lingerNanos, long maxNanos) {
        boolean isDisconnecting;
        State before;
        StreamClosing end;
        synchronized (lock) {
            before = state;
            if (before == State.CLOSED) {
                return;
            }
            end = closing(); // before the change of state: without memory, the close can be repeated
            state = State.CLOSED;
            ConnectedStream current = stream;
            isDisconnecting = before == State.CONNECTED && current != null && orderly && disconnect(current);
            if (keepAlive != null) {
                keepAlive.stop();
            }
        }
        StreamListener listener = listening;
        try {
            changed.raise();
            if (listener != null) {
                listener.close();
            }
        } finally {
            CmId id = connecting.id();
            if (end != null) {
                end.run(before, isDisconnecting, lingerNanos, maxNanos);
            } else if (id != null) {
                id.close();
            }
        }
    }

    private @Nullable StreamClosing closing() {
        CmId id = connecting.id();
        ConnectedStream connected = stream;
        return id == null || connected == null ? null : new StreamClosing(this, connected, id, () -> stream = null);
    }

    /**
     * Ends both directions. Returns false if the device refuses or an error prevents it; no more data can then be
     * delivered.
     */
    private static boolean disconnect(ConnectedStream connected) {
        try {
            connected.resources().protocol().disconnect();
            return true;
        } catch (RdmaException | Error failed) {
            return false; // the endpoint is already closed, so its resources are released now or never
        }
    }

    // ---- calls

    /** A call that may fail. */
    interface IoCall<A, T extends @Nullable Object> {
        T call(A argument) throws IOException;
    }

    private void requireState(String operation, State wanted) throws SocketException {
        if (state != wanted) {
            throw new SocketException(
                    state == State.CLOSED ? "Socket closed" : "Cannot " + operation + ": the socket is " + state);
        }
    }
}
