package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.AddressRules;
import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.io.StreamOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A channel that becomes one over RDMA or one over TCP when it is bound or connected, as the address rules say. Thread safe,
 * as {@link SocketChannel} is.
 *
 * <p>Streams for such a channel are those of its {@link SocketChannel#socket}, one to read and one to write. The streams,
 * readers and writers of {@link java.nio.channels.Channels} hold a lock of the channel while they wait, the same for both
 * directions, unless the channel is one of the JDK's own classes: a thread that writes waits for one that reads.
 */
public final class RdmaSocketChannel extends DeferredChannel implements StreamTransfer.Waiting {
    private enum Phase {
        UNCONNECTED,
        PENDING,
        CONNECTED
    }

    private final ReentrantLock readLock = new ReentrantLock();
    private final ReentrantLock writeLock = new ReentrantLock();

    private volatile Phase phase = Phase.UNCONNECTED;
    private volatile boolean inputShut;
    private volatile boolean outputShut;
    private volatile @Nullable StreamTransfer transfer;
    private @Nullable Socket socket;

    /** Opens a channel that is not connected. */
    public RdmaSocketChannel(SelectorProvider provider, AddressRules rules, SocketFamily family) {
        super(provider, rules, family, ChannelOptions.of(StreamOptions.SUPPORTED));
    }

    private RdmaSocketChannel(RdmaServerSocketChannel server, ChannelOptions options) {
        super(server.provider(), server.rules(), SocketFamily.IPV6, options);
        phase = Phase.CONNECTED;
    }

    /** The channel of a connection that a server has accepted over RDMA. */
    static RdmaSocketChannel accepted(RdmaServerSocketChannel server, ChannelOptions options) {
        RdmaSocketChannel channel = new RdmaSocketChannel(server, options);
        StreamEndpoint endpoint = options.endpoint();
        channel.endpoint = endpoint;
        endpoint.addListener(channel.keys::changed);
        return channel;
    }

    /** The channel of a connection that a server has accepted over TCP. */
    static RdmaSocketChannel accepted(RdmaServerSocketChannel server, ChannelOptions options, SocketChannel tcp) {
        RdmaSocketChannel channel = new RdmaSocketChannel(server, options);
        channel.tcp = tcp;
        return channel;
    }

    // ---- addresses

    private void requireConnected() throws ClosedChannelException {
        requireOpen();
        if (phase != Phase.CONNECTED) {
            throw new NotYetConnectedException();
        }
    }

    @Override
    public SocketChannel bind(@Nullable SocketAddress local) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            requireOpen();
            if (phase == Phase.PENDING) {
                throw new ConnectionPendingException();
            }
            if (getLocalAddress() != null) {
                throw new AlreadyBoundException();
            }
            InetSocketAddress to = ChannelAddresses.local(local, family);
            synchronized (state) {
                boundTo = to;
                try {
                    if (ChannelAddresses.way(rules, to) == AddressRules.Way.TCP) {
                        becomeTcp();
                    } else {
                        becomeRdma();
                    }
                } catch (IOException refused) {
                    boundTo = null;
                    throw refused;
                }
            }
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        requireOpen();
        return phase == Phase.CONNECTED ? remoteAddress() : null;
    }

    @Override
    boolean hasConnected() {
        return phase == Phase.CONNECTED;
    }

    @Override
    public Socket socket() {
        synchronized (state) {
            Socket own = socket;
            if (own == null) {
                own = ChannelSocket.of(this);
                socket = own;
            }
            return own;
        }
    }

    // ---- connecting

    @Override
    public boolean isConnected() {
        return phase == Phase.CONNECTED && isOpen();
    }

    @Override
    public boolean isConnectionPending() {
        return phase == Phase.PENDING && isOpen();
    }

    @Override
    public boolean connect(SocketAddress remote) throws IOException {
        return connect(remote, Long.MAX_VALUE);
    }

    /** Connects; where it waits for that, until a time of {@link System#nanoTime} and no longer. */
    boolean connect(SocketAddress remote, long deadlineNanos) throws IOException {
        InetSocketAddress to = ChannelAddresses.remote(remote, family);
        readLock.lock();
        writeLock.lock();
        try {
            requireOpen();
            if (phase == Phase.CONNECTED) {
                throw new AlreadyConnectedException();
            }
            if (phase == Phase.PENDING) {
                throw new ConnectionPendingException();
            }
            return closingOnFailure(() -> {
                start(to, () -> phase = Phase.PENDING);
                boolean later = endpoint != null && !isBlocking(); // then finishConnect goes on
                return !later && advance(isBlocking(), deadlineNanos);
            });
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    @Override
    public boolean finishConnect() throws IOException {
        if (phase == Phase.CONNECTED && isOpen()) {
            return true;
        }
        readLock.lock();
        writeLock.lock();
        try {
            requireOpen();
            if (phase == Phase.UNCONNECTED) {
                throw new NoConnectionPendingException();
            }
            return phase == Phase.CONNECTED || closingOnFailure(() -> advance(isBlocking(), Long.MAX_VALUE));
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    private interface Step {
        boolean step() throws IOException;
    }

    private boolean closingOnFailure(Step step) throws IOException {
        try {
            return step.step();
        } catch (IOException failed) {
            close();
            throw failed;
        }
    }

    /** Goes on with connecting, waiting or not; true when it is done. */
    private boolean advance(boolean waiting, long deadlineNanos) throws IOException {
        StreamEndpoint own = endpoint;
        if (own != null && !advanceOverRdma(own, waiting, deadlineNanos)) {
            requireOpen(); // it may have been closed since the wait
            return false;
        }
        IOException refused = tcpFailure;
        if (refused != null) {
            throw refused;
        }
        SocketChannel inside = tcp;
        if (inside != null && !advanceOverTcp(inside, deadlineNanos)) {
            return false;
        }
        synchronized (state) {
            requireOpen();
            phase = Phase.CONNECTED;
        }
        keys.changed(); // it can be written to now, whatever the selectors have seen of the attempt
        return true;
    }

    /** Returns false while the attempt goes on; true when it has succeeded, or when TCP is to be tried. */
    private boolean advanceOverRdma(StreamEndpoint own, boolean waiting, long deadlineNanos) throws IOException {
        if (waiting) {
            boolean ended = false;
            beginWait();
            try {
                ended = own.await(Readiness.OUT, deadlineNanos) != 0;
            } finally {
                endWait(ended && isOpen());
            }
            if (!ended) {
                throw new SocketTimeoutException("Connect timed out");
            }
        }
        return fallsBack() || own.finishConnect();
    }

    private boolean advanceOverTcp(SocketChannel inside, long deadlineNanos) throws IOException {
        if (inside.isConnected()) {
            return true;
        }
        if (inside.isConnectionPending()) {
            return relay(inside, SocketChannel::finishConnect);
        }
        InetSocketAddress to = Objects.requireNonNull(target);
        if (deadlineNanos == Long.MAX_VALUE || !inside.isBlocking()) {
            return relay(inside, each -> each.connect(to));
        }
        long millis = Math.max(1, (deadlineNanos - System.nanoTime()) / 1_000_000);
        return relay(inside, each -> {
            each.socket().connect(to, (int) Math.min(Integer.MAX_VALUE, millis));
            return true;
        });
    }

    @Override
    public int readyOps(int interest, boolean toWait) {
        StreamEndpoint own = endpoint;
        if (own == null || phase == Phase.UNCONNECTED) {
            return readyOverTcp(interest);
        }
        int ready = toWait ? own.readinessToWait() : own.readiness();
        if (phase == Phase.PENDING) {
            return readyToConnect(interest, ready);
        }
        int ops = (ready & Readiness.IN) != 0 || inputShut ? SelectionKey.OP_READ : 0;
        ops |= (ready & Readiness.OUT) != 0 ? SelectionKey.OP_WRITE : 0;
        if ((ready & (Readiness.HANG_UP | Readiness.ERROR)) != 0) {
            ops |= SelectionKey.OP_READ | SelectionKey.OP_WRITE;
        }
        return ops & interest;
    }

    private int readyToConnect(int interest, int ready) {
        if (ready == 0) {
            return 0;
        }
        if (fallsBack()) {
            return readyOverTcp(interest);
        }
        return (ready & Readiness.ERROR) != 0 ? interest : interest & SelectionKey.OP_CONNECT;
    }

    /** What the TCP channel's selector does not tell: that an attempt has ended at once. */
    private int readyOverTcp(int interest) {
        if (tcpFailure != null) {
            return interest;
        }
        SocketChannel inside = tcp;
        boolean ended = inside != null && inside.isConnected();
        return ended && phase == Phase.PENDING ? interest & SelectionKey.OP_CONNECT : 0;
    }

    // ---- data

    /** The endpoint to read from or write to; null for the TCP channel. */
    private @Nullable StreamTransfer transfer() throws ClosedChannelException {
        requireConnected();
        if (tcp != null) {
            return null;
        }
        StreamTransfer own = transfer;
        StreamEndpoint through = endpoint;
        if (own == null && through != null) {
            own = new StreamTransfer(this, through);
            transfer = own;
        }
        return own;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        return read(target, Long.MAX_VALUE);
    }

    /** Reads, and waits until a time of {@link System#nanoTime} at most; over RDMA only. */
    int read(ByteBuffer target, long deadlineNanos) throws IOException {
        Objects.requireNonNull(target);
        readLock.lock();
        try {
            StreamTransfer own = transfer();
            if (own == null) {
                return readOverTcp(target);
            }
            return inputShut ? -1 : own.read(target, deadlineNanos);
        } finally {
            readLock.unlock();
        }
    }

    /** A method of its own: what it allocates, the way over RDMA does not. */
    private int readOverTcp(ByteBuffer target) throws IOException {
        return relay(Objects.requireNonNull(tcp), inside -> inside.read(target));
    }

    /**
     * Reads, for a stream with a time-out.
     *
     * @param timeoutMillis how long it waits; 0 for ever
     * @throws SocketTimeoutException if that was too short
     */
    int readUntil(ByteBuffer target, int timeoutMillis) throws IOException {
        SocketChannel inside = tcp;
        if (inside == null || timeoutMillis == 0 || inputShut) { // then its stream is refused
            return read(target, ChannelSocket.deadline(timeoutMillis));
        }
        requireConnected();
        return relay(inside, each -> {
            Socket tcp = each.socket();
            tcp.setSoTimeout(timeoutMillis);
            return tcp.getInputStream()
                    .read(target.array(), target.arrayOffset() + target.position(), target.remaining());
        });
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        readLock.lock();
        try {
            StreamTransfer own = transfer();
            if (own == null) {
                return relay(Objects.requireNonNull(tcp), inside -> inside.read(targets, offset, length));
            }
            return inputShut ? -1 : own.read(targets, offset, length);
        } finally {
            readLock.unlock();
        }
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source);
        writeLock.lock();
        try {
            StreamTransfer own = transferToWrite();
            return own == null ? writeOverTcp(source) : own.write(source);
        } catch (IOException failed) {
            throw unlessShut(failed);
        } finally {
            writeLock.unlock();
        }
    }

    private int writeOverTcp(ByteBuffer source) throws IOException {
        return relay(Objects.requireNonNull(tcp), inside -> inside.write(source));
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        writeLock.lock();
        try {
            StreamTransfer own = transferToWrite();
            return own == null
                    ? relay(Objects.requireNonNull(tcp), inside -> inside.write(sources, offset, length))
                    : own.write(sources, offset, length);
        } catch (IOException failed) {
            throw unlessShut(failed);
        } finally {
            writeLock.unlock();
        }
    }

    /** As {@link #transfer}; where the output is shut, there is none. */
    private @Nullable StreamTransfer transferToWrite() throws ClosedChannelException {
        StreamTransfer own = transfer();
        if (own != null && outputShut) {
            throw new AsynchronousCloseException(); // as the platform does, though nobody waited
        }
        return own;
    }

    /** Why a write failed; where the output was shut while its thread waited, that is why. */
    private IOException unlessShut(IOException failed) {
        return outputShut && isOpen() && !(failed instanceof ClosedChannelException)
                ? new AsynchronousCloseException()
                : failed;
    }

    @Override
    public SocketChannel shutdownInput() throws IOException {
        synchronized (state) {
            requireConnected();
            SocketChannel inside = tcp;
            StreamEndpoint own = endpoint;
            if (inside != null) {
                inside.shutdownInput();
            } else if (own != null && !inputShut) {
                own.shutdownInput();
            }
            inputShut = true;
        }
        keys.changed();
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        synchronized (state) {
            requireConnected();
            SocketChannel inside = tcp;
            StreamEndpoint own = endpoint;
            if (inside != null) {
                inside.shutdownOutput();
            } else if (own != null && !outputShut) {
                outputShut = true;
                own.shutdownOutput();
            }
            outputShut = true;
        }
        keys.changed();
        return this;
    }

    /** Whether {@link #shutdownInput} was called. */
    boolean isInputShut() {
        return inputShut;
    }

    /** Whether {@link #shutdownOutput} was called. */
    boolean isOutputShut() {
        return outputShut;
    }

    /** Bytes that can be read at once. */
    int availableBytes() throws IOException {
        requireConnected();
        SocketChannel inside = tcp;
        StreamEndpoint own = endpoint;
        if (inputShut) {
            return 0;
        }
        if (inside != null) {
            return inside.socket().getInputStream().available();
        }
        return own == null ? 0 : own.availableBytes();
    }

    // ---- modes and end

    @Override
    public void beginWait() {
        begin();
    }

    @Override
    public void endWait(boolean completed) throws AsynchronousCloseException {
        if (!completed && Thread.currentThread().isInterrupted()) {
            begin(); // the wait may have ended before who interrupts came to close the channel
        }
        end(completed);
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            synchronized (state) {
                SocketChannel inside = tcp;
                if (inside != null) {
                    if (block) {
                        keys.forgetCancelled(inside);
                    }
                    inside.configureBlocking(block);
                }
            }
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(isOpen() ? phase.name().toLowerCase(Locale.ROOT) : "closed");
        StreamEndpoint own = endpoint;
        SocketChannel inside = tcp;
        if (inside != null) {
            text.append(" over TCP: ").append(inside);
        } else if (own != null && isOpen()) {
            text.append(" local=").append(own.localAddress()).append(" remote=").append(own.peerAddress());
        }
        return "RdmaSocketChannel[" + text + "]";
    }
}
