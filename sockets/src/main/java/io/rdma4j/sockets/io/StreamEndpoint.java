package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A stream socket: unconnected, listening or connected. Nothing here waits but {@link #await} and, for a moment, {@link
 * #close}: what cannot be done now is not done. The faces (sockets, channels, the rsocket calls) are made of it. Thread
 * safe.
 */
public final class StreamEndpoint extends SocketEndpoint {
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

    private final StreamConnecting connecting = new StreamConnecting(this);

    private volatile State state = State.NEW;
    private volatile StreamSettings settings;
    private volatile @Nullable ConnectedStream stream;
    private volatile @Nullable StreamListener listening;
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
            CmId own = connecting.id();
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
        CmId own = connecting.id();
        return own == null || state == State.CLOSED ? null : own.localAddress();
    }

    /** The peer's address and port, or null while there is none. */
    public @Nullable InetSocketAddress peerAddress() {
        CmId own = connecting.id();
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
            if (connecting.id() != null) {
                throw new SocketException("Already bound");
            }
            connecting.bind(local);
            return null;
        });
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
            connecting.start(remote);
            return null;
        });
    }

    /**
     * Whether the attempt to connect has succeeded.
     *
     * @return false while it goes on
     * @throws IOException why it failed, or that the endpoint is closed
     */
    public boolean finishConnect() throws IOException {
        State now = state; // once: it may be closed between two looks
        IOException why = connecting.failure();
        if (now == State.FAILED && why != null) {
            throw why;
        } else if (now == State.CLOSED) {
            throw new SocketException("Socket closed");
        }
        return now == State.CONNECTED;
    }

    /** Closes it if it is still connecting; a connection that is established by now stays. */
    public void giveUpConnecting() {
        connecting.giveUp();
    }

    /** Becomes the endpoint of a request, and accepts it. */
    void answer(AcceptQueue.Answer answer, StreamListener listener) {
        connecting.answer(answer, listener);
    }

    /** Fails if the peer has not confirmed the answer to its request. */
    void giveUpUnconfirmed() {
        connecting.giveUpUnconfirmed();
    }

    /** Is in another part of its life from now on; under the lock. */
    void state(State next) {
        state = next;
    }

    /** The connection that is made, is there or ends; null while there is none. */
    @Nullable
    ConnectedStream stream() {
        return stream;
    }

    /** Has a connection that is being made; under the lock. */
    void stream(ConnectedStream made) {
        stream = made;
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
            CmId own = connecting.id();
            if (own == null) {
                throw new SocketException("Not bound");
            }
            listening = new StreamListener(this, backlog, waiting);
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
        IOException why = connecting.failure();
        if (state == State.FAILED && why != null) {
            throw why;
        }
        StreamListener own = listening;
        return own == null ? null : own.accept();
    }

    /** A request has come, if it listens. */
    void onRequest(CmEvent event) {
        StreamListener own = listening;
        if (own == null) {
            StreamListener.refuseLater(event.id());
        } else {
            own.onRequest(event);
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
            try {
                if (state == State.CONNECTED) {
                    own.resources().protocol().unmap(index, offset);
                }
            } finally {
                own.resources().unmap(region);
            }
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
        StreamListener own = listening;
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

    /** Begins or ends to send signs of life, as the state and the settings say. */
    void updateKeepAlive() {
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
        boolean isDisconnecting;
        lock.lock();
        try {
            State before = state;
            if (before == State.CLOSED) {
                return;
            }
            state = State.CLOSED;
            ConnectedStream own = stream;
            isDisconnecting = before == State.CONNECTED && own != null && orderly && disconnect(own);
            if (keepAlive != null) {
                keepAlive.stop();
            }
        } finally {
            lock.unlock();
        }
        waiting.signalAll();
        StreamListener listener = listening;
        if (listener != null) {
            listener.close();
        }
        CmId own = connecting.id();
        ConnectedStream had = stream;
        if (own != null && had != null) {
            StreamClosing end = new StreamClosing(lock, waiting, had, own, () -> stream = null);
            if (isDisconnecting) {
                end.run(lingerNanos, mostNanos);
            } else {
                end.release();
            }
        } else if (own != null) {
            own.close();
        }
    }

    /** Ends both directions. Returns false if the device refuses: then nothing more can be delivered. */
    private static boolean disconnect(ConnectedStream connected) {
        try {
            connected.resources().protocol().disconnect();
            return true;
        } catch (RdmaException refused) {
            return false;
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
