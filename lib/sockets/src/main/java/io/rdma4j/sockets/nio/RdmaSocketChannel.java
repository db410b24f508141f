package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.net.BlockingCalls;
import io.rdma4j.sockets.options.AddressRules;
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
 * A channel that decides between RDMA and TCP when it is bound or connected, according to the address rules. Thread
 * safe, as specified by {@link SocketChannel}.
 *
 * <p>For streams on such a channel, use the streams of its {@link SocketChannel#socket}: they can read and write
 * concurrently. The streams, readers and writers of {@link java.nio.channels.Channels} hold a lock of the channel while
 * they block, except for the JDK's own channel classes. A thread that writes through them therefore waits for a thread
 * that reads.
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
    public RdmaSocketChannel(
            SelectorProvider provider, ConnectionService service, AddressRules rules, SocketFamily family) {
        super(provider, rules, family, ChannelOptions.of(service));
    }

    private RdmaSocketChannel(RdmaServerSocketChannel server, ChannelOptions options) {
        super(server.provider(), server.rules(), server.family(), options);
        phase = Phase.CONNECTED;
    }

    /** Returns the channel of a connection that a server has accepted over RDMA. */
    static RdmaSocketChannel accepted(RdmaServerSocketChannel server, ChannelOptions options) {
        RdmaSocketChannel channel = new RdmaSocketChannel(server, options);
        StreamEndpoint endpoint = options.endpoint();
        channel.endpoint = endpoint;
        endpoint.signal().add(channel.keys::changed);
        return channel;
    }

    /** Returns the channel of a connection that a server has accepted over TCP. */
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
                    bindNow(to);
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
            Socket current = socket;
            if (current == null) {
                current = ChannelSocket.of(this);
                socket = current;
            }
            return current;
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
        return connect(remote, 0);
    }

    /** Connects. A blocking channel waits for the peer for at most {@code timeoutMillis}; 0 to wait indefinitely. */
    boolean connect(SocketAddress remote, int timeoutMillis) throws IOException {
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
                start(to, timeoutMillis, () -> phase = Phase.PENDING);
                StreamEndpoint attempt = endpoint;
                if (attempt != null && isBlocking() && timeoutMillis > 0) {
                    BlockingCalls.awaitRequest(attempt);
                }
                boolean later = endpoint != null && !isBlocking(); // then finishConnect continues
                return !later && advance(isBlocking(), deadlineNanos(timeoutMillis));
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
            IOException thrown = onConnectFailed(failed);
            close();
            throw thrown;
        }
    }

    /** Continues to connect, blocking or not. Returns true if the channel is connected. */
    private boolean advance(boolean waiting, long deadlineNanos) throws IOException {
        StreamEndpoint current = endpoint;
        if (current != null && !advanceOverRdma(current, waiting, deadlineNanos)) {
            requireOpen(); // the channel may have been closed during the wait
            return false;
        }
        IOException refused = tcpFailure;
        if (refused != null) {
            throw refused;
        }
        SocketChannel tcpChannel = tcp;
        if (tcpChannel != null && !advanceOverTcp(tcpChannel, deadlineNanos)) {
            return false;
        }
        synchronized (state) {
            requireOpen();
            phase = Phase.CONNECTED;
        }
        onConnected();
        keys.changed(); // the channel is writable now, even if the selectors saw the attempt fail
        return true;
    }

    /** Returns false while the attempt continues; true if it has succeeded, or if TCP must be tried. */
    private boolean advanceOverRdma(StreamEndpoint current, boolean waiting, long deadlineNanos) throws IOException {
        if (waiting) {
            boolean ended = false;
            beginWait();
            try {
                ended = current.await(Readiness.OUT, deadlineNanos) != 0;
            } finally {
                endWait(ended && isOpen());
            }
            if (!ended) {
                throw new SocketTimeoutException("Connect timed out");
            }
        }
        return fallBackAfterFailure() || current.finishConnect();
    }

    private boolean advanceOverTcp(SocketChannel tcpChannel, long deadlineNanos) throws IOException {
        if (tcpChannel.isConnected()) {
            return true;
        }
        if (tcpChannel.isConnectionPending()) {
            return callTcp(tcpChannel, SocketChannel::finishConnect);
        }
        InetSocketAddress to = Objects.requireNonNull(target);
        if (deadlineNanos == Long.MAX_VALUE || !tcpChannel.isBlocking()) {
            return callTcp(tcpChannel, each -> each.connect(to));
        }
        long millis = Math.max(1, (deadlineNanos - nanoTime()) / 1_000_000);
        return callTcp(tcpChannel, each -> {
            each.socket().connect(to, (int) Math.min(Integer.MAX_VALUE, millis));
            return true;
        });
    }

    @Override
    public int readyOps(int interest, boolean toWait) {
        StreamEndpoint current = endpoint;
        if (current == null || phase == Phase.UNCONNECTED) {
            return readyOverTcp(interest);
        }
        int ready = toWait ? current.readinessToWait() : current.readiness();
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
        if (fallBackAfterFailure()) {
            return readyOverTcp(interest);
        }
        return (ready & Readiness.ERROR) != 0 ? interest : interest & SelectionKey.OP_CONNECT;
    }

    /** Returns the readiness that the platform's selector does not report: an attempt that ended immediately. */
    private int readyOverTcp(int interest) {
        if (tcpFailure != null) {
            return interest;
        }
        SocketChannel tcpChannel = tcp;
        boolean ended = tcpChannel != null && tcpChannel.isConnected();
        return ended && phase == Phase.PENDING ? interest & SelectionKey.OP_CONNECT : 0;
    }

    // ---- data

    /** Returns the transfer over RDMA, or null for the TCP channel. */
    private @Nullable StreamTransfer transfer() throws ClosedChannelException {
        requireConnected();
        if (tcp != null) {
            return null;
        }
        StreamTransfer current = transfer;
        StreamEndpoint currentEndpoint = endpoint;
        if (current == null && currentEndpoint != null) {
            current = new StreamTransfer(this, currentEndpoint);
            transfer = current;
        }
        return current;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        return read(target, Long.MAX_VALUE);
    }

    /** Reads, and waits until a deadline of {@link #nanoTime} at most. The deadline applies only over RDMA. */
    int read(ByteBuffer target, long deadlineNanos) throws IOException {
        Objects.requireNonNull(target);
        readLock.lock();
        try {
            StreamTransfer current = transfer();
            if (current == null) {
                return readOverTcp(target);
            }
            return inputShut ? -1 : current.read(target, deadlineNanos);
        } finally {
            readLock.unlock();
        }
    }

    /** A separate method, so that the path over RDMA does not allocate the closure. */
    private int readOverTcp(ByteBuffer target) throws IOException {
        return callTcp(Objects.requireNonNull(tcp), tcpChannel -> tcpChannel.read(target));
    }

    /**
     * Reads for a stream with a timeout.
     *
     * @param timeoutMillis the maximum time to wait in milliseconds; 0 to wait indefinitely
     * @throws SocketTimeoutException on timeout
     */
    int readWithTimeout(ByteBuffer target, int timeoutMillis) throws IOException {
        SocketChannel tcpChannel = tcp;
        if (tcpChannel == null
                || timeoutMillis == 0
                || inputShut) { // without a stream of the TCP socket, which is not available in these cases
            return read(target, deadlineNanos(timeoutMillis));
        }
        requireConnected();
        return callTcp(tcpChannel, each -> {
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
            StreamTransfer current = transfer();
            if (current == null) {
                return callTcp(Objects.requireNonNull(tcp), tcpChannel -> tcpChannel.read(targets, offset, length));
            }
            return inputShut ? -1 : current.read(targets, offset, length);
        } finally {
            readLock.unlock();
        }
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source);
        writeLock.lock();
        try {
            StreamTransfer current = transferToWrite();
            return current == null ? writeOverTcp(source) : current.write(source);
        } catch (IOException failed) {
            throw unlessShut(failed);
        } finally {
            writeLock.unlock();
        }
    }

    private int writeOverTcp(ByteBuffer source) throws IOException {
        return callTcp(Objects.requireNonNull(tcp), tcpChannel -> tcpChannel.write(source));
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        writeLock.lock();
        try {
            StreamTransfer current = transferToWrite();
            return current == null
                    ? callTcp(Objects.requireNonNull(tcp), tcpChannel -> tcpChannel.write(sources, offset, length))
                    : current.write(sources, offset, length);
        } catch (IOException failed) {
            throw unlessShut(failed);
        } finally {
            writeLock.unlock();
        }
    }

    /** Returns {@link #transfer}; throws if the output is shut down over RDMA. */
    private @Nullable StreamTransfer transferToWrite() throws ClosedChannelException {
        StreamTransfer current = transfer();
        if (current != null && outputShut) {
            throw new AsynchronousCloseException(); // like the platform, although no thread waited
        }
        return current;
    }

    /** Returns the failure of a write to throw: a concurrent shutdown of the output takes precedence. */
    private IOException unlessShut(IOException failed) {
        return outputShut && isOpen() && !(failed instanceof ClosedChannelException)
                ? new AsynchronousCloseException()
                : failed;
    }

    @Override
    public SocketChannel shutdownInput() throws IOException {
        synchronized (state) {
            requireConnected();
            SocketChannel tcpChannel = tcp;
            StreamEndpoint current = endpoint;
            if (tcpChannel != null) {
                tcpChannel.shutdownInput();
            } else if (current != null && !inputShut) {
                current.shutdownInput();
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
            SocketChannel tcpChannel = tcp;
            StreamEndpoint current = endpoint;
            if (tcpChannel != null) {
                tcpChannel.shutdownOutput();
            } else if (current != null && !outputShut) {
                outputShut = true;
                current.shutdownOutput();
            }
            outputShut = true;
        }
        keys.changed();
        return this;
    }

    /** Returns whether {@link #shutdownInput} was called. */
    boolean isInputShut() {
        return inputShut;
    }

    /** Returns whether {@link #shutdownOutput} was called. */
    boolean isOutputShut() {
        return outputShut;
    }

    /** Returns the number of bytes that can be read without blocking. */
    int availableBytes() throws IOException {
        requireConnected();
        SocketChannel tcpChannel = tcp;
        StreamEndpoint current = endpoint;
        if (inputShut) {
            return 0;
        }
        if (tcpChannel != null) {
            return tcpChannel.socket().getInputStream().available();
        }
        return current == null ? 0 : current.availableBytes();
    }

    // ---- modes and end

    @Override
    public void beginWait() {
        begin();
    }

    @Override
    public void endWait(boolean completed) throws AsynchronousCloseException {
        if (!completed && Thread.currentThread().isInterrupted()) {
            begin(); // the wait may have ended before the interrupting thread closes the channel
        }
        end(completed);
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            synchronized (state) {
                SocketChannel tcpChannel = tcp;
                if (tcpChannel != null) {
                    if (block) {
                        keys.cancelInner(tcpChannel);
                    }
                    tcpChannel.configureBlocking(block);
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
        StreamEndpoint current = endpoint;
        SocketChannel tcpChannel = tcp;
        if (tcpChannel != null) {
            text.append(" over TCP: ").append(tcpChannel);
        } else if (current != null && isOpen()) {
            text.append(" local=")
                    .append(current.localAddress())
                    .append(" remote=")
                    .append(current.peerAddress());
        }
        return "RdmaSocketChannel[" + text + "]";
    }
}
