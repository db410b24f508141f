package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketCleaner;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.io.StreamOptions;
import io.rdma4j.sockets.io.StreamSettings;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.lang.ref.Cleaner;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of {@link java.net.Socket} and {@link java.net.ServerSocket} over RDMA. Concurrent reads run one
 * after another, and so do concurrent writes. Closing the socket ends all blocked calls. A socket that becomes
 * unreachable is closed. Thread safe.
 */
final class RdmaSocketImpl extends SocketImpl implements SocketStreams.Calls {
    private static final String READ_TIMED_OUT = "Read timed out";
    private static final String ACCEPT_TIMED_OUT = "Accept timed out";
    private static final String CONNECT_TIMED_OUT = "Connect timed out";

    private final ConnectionService service;
    private final SocketFamily family;
    private final boolean listens;
    private final ReentrantLock readLock = new ReentrantLock();
    private final ReentrantLock writeLock = new ReentrantLock();
    private volatile @Nullable StreamEndpoint endpoint;
    private volatile @Nullable StreamOptions options;
    private Cleaner.@Nullable Cleanable cleanable;
    private volatile int timeoutMillis;
    private boolean ended;

    /**
     * Creates an implementation without a socket; {@link #create} opens the socket.
     *
     * @param listens true for a server socket
     */
    RdmaSocketImpl(ConnectionService service, SocketFamily family, boolean listens) {
        this.service = service;
        this.family = family;
        this.listens = listens;
    }

    // ---- creation and closing

    @Override
    protected void create(boolean stream) throws IOException {
        if (!stream) {
            throw new IOException("Datagram socket creation not supported");
        }
        use(new StreamEndpoint(service, StreamSettings.DEFAULT));
    }

    private synchronized void use(StreamEndpoint created) {
        endpoint = created;
        options = listens ? StreamOptions.ofListener(created) : new StreamOptions(created);
        cleanable = SocketCleaner.watch(this, () -> created);
    }

    private StreamEndpoint endpoint() throws SocketException {
        StreamEndpoint current = endpoint;
        if (current == null || current.state() == StreamEndpoint.State.CLOSED) {
            throw new SocketException("Socket closed");
        }
        return current;
    }

    private StreamEndpoint connected() throws SocketException {
        StreamEndpoint current = endpoint();
        if (current.state() != StreamEndpoint.State.CONNECTED) {
            throw new SocketException("Not connected");
        }
        return current;
    }

    @Override
    public void close() {
        StreamEndpoint current = endpoint;
        StreamOptions currentOptions = options;
        if (current == null || currentOptions == null) {
            return;
        }
        try {
            currentOptions.close();
        } finally {
            synchronized (this) {
                if (cleanable != null) {
                    cleanable.clean();
                    cleanable = null;
                }
            }
        }
    }

    // ---- connecting

    @Override
    protected void connect(String host, int port) throws IOException {
        connect(new InetSocketAddress(host, port), 0);
    }

    @Override
    protected void connect(InetAddress address, int port) throws IOException {
        connect(new InetSocketAddress(address, port), 0);
    }

    @Override
    protected void connect(SocketAddress remote, int timeoutMillis) throws IOException {
        if (!(remote instanceof InetSocketAddress to)) {
            throw new IOException("Unsupported address type");
        }
        try {
            StreamEndpoint current = endpoint();
            InetSocketAddress peer = family.remote(to);
            current.startConnect(peer);
            BlockingCalls.awaitRequest(current);
            BlockingCalls.await(
                    current,
                    Readiness.OUT,
                    BlockingCalls.deadlineNanos(current, timeoutMillis),
                    CONNECT_TIMED_OUT,
                    () -> current.finishConnect() ? current : null);
            address = peer.getAddress();
            port = peer.getPort();
            localport = port(current.localAddress());
        } catch (SocketTimeoutException e) {
            close();
            throw e;
        } catch (InterruptedIOException e) {
            close();
            throw new SocketException("Closed by interrupt");
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private static int port(@Nullable InetSocketAddress address) {
        return address == null ? 0 : address.getPort();
    }

    @Override
    protected void bind(InetAddress host, int port) throws IOException {
        StreamEndpoint current = endpoint();
        current.bind(family.local(new InetSocketAddress(host, port)));
        address = host;
        localport = port(current.localAddress());
    }

    @Override
    protected void listen(int backlog) throws IOException {
        endpoint().listen(backlog < 1 ? 50 : backlog);
    }

    @Override
    protected void accept(SocketImpl impl) throws IOException {
        StreamEndpoint current = endpoint();
        long deadline = BlockingCalls.deadlineNanos(current, timeoutMillis);
        BlockingCalls.lock(readLock, current, deadline, ACCEPT_TIMED_OUT);
        try {
            StreamEndpoint next =
                    BlockingCalls.await(current, Readiness.IN, deadline, ACCEPT_TIMED_OUT, current::accept);
            ((RdmaSocketImpl) impl).accepted(next);
        } finally {
            readLock.unlock();
        }
    }

    /**
     * Accepts a connection over RDMA or TCP.
     *
     * @param next becomes the connection if it is over RDMA
     * @return the connection: {@code next}, or an implementation of the platform
     */
    SocketImpl accept(RdmaSocketImpl next, TcpAcceptor tcp) throws IOException {
        StreamEndpoint current = endpoint();
        long deadline = BlockingCalls.deadlineNanos(current, timeoutMillis);
        BlockingCalls.lock(readLock, current, deadline, ACCEPT_TIMED_OUT);
        try {
            return BlockingCalls.await(current, tcp.arrived(), deadline, ACCEPT_TIMED_OUT, () -> {
                StreamEndpoint overRdma = current.accept();
                if (overRdma == null) {
                    return tcp.poll();
                }
                next.accepted(overRdma);
                return next;
            });
        } finally {
            readLock.unlock();
        }
    }

    private void accepted(StreamEndpoint created) {
        use(created);
        InetSocketAddress peer = created.peerAddress();
        if (peer != null) {
            address = peer.getAddress();
            port = peer.getPort();
        }
        localport = port(created.localAddress());
    }

    // ---- data

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        StreamEndpoint used = endpoint;
        if (used == null) {
            throw new SocketException("Socket closed");
        }
        long deadline = BlockingCalls.deadlineNanos(used, timeoutMillis);
        BlockingCalls.lock(readLock, used, deadline, READ_TIMED_OUT);
        try {
            if (ended) {
                return -1; // even if it is closed, like the JDK's sockets
            }
            StreamEndpoint current = connected();
            ByteBuffer target = ByteBuffer.wrap(bytes, offset, length);
            int count = BlockingCalls.await(current, Readiness.IN, deadline, READ_TIMED_OUT, () -> {
                int now = current.read(target);
                return now == 0 ? null : now;
            });
            ended = count < 0;
            return count;
        } finally {
            readLock.unlock();
        }
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        writeLock.lock();
        try {
            StreamEndpoint current = connected();
            ByteBuffer source = ByteBuffer.wrap(bytes, offset, length);
            while (source.hasRemaining()) {
                BlockingCalls.await(current, Readiness.OUT, Long.MAX_VALUE, "Write timed out", () -> {
                    int now = current.write(source);
                    return now == 0 ? null : now;
                });
            }
        } finally {
            writeLock.unlock();
        }
    }

    @Override
    protected InputStream getInputStream() {
        return SocketStreams.input(this);
    }

    @Override
    protected OutputStream getOutputStream() {
        return SocketStreams.output(this);
    }

    @Override
    public int available() throws IOException {
        return connected().availableBytes();
    }

    @Override
    protected void shutdownInput() throws IOException {
        connected().shutdownInput();
    }

    @Override
    protected void shutdownOutput() throws IOException {
        connected().shutdownOutput();
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        throw new SocketException("Urgent data not supported: RDMA sockets have none");
    }

    // ---- options

    private StreamOptions options() throws SocketException {
        endpoint();
        return Objects.requireNonNull(options);
    }

    private StreamOptions options(SocketOption<?> option) throws SocketException {
        if (!supportedOptions().contains(Objects.requireNonNull(option))) {
            throw new UnsupportedOperationException("'" + option + "' not supported");
        }
        return options();
    }

    @Override
    protected Set<SocketOption<?>> supportedOptions() {
        return listens ? StreamOptions.OF_LISTENERS : StreamOptions.SUPPORTED;
    }

    @Override
    protected <T> void setOption(SocketOption<T> name, T value) throws IOException {
        options(name).set(name, value);
    }

    @Override
    protected <T> T getOption(SocketOption<T> name) throws IOException {
        return options(name).get(name);
    }

    @Override
    public void setOption(int number, Object value) throws SocketException {
        StreamOptions currentOptions = options();
        if (number == SO_TIMEOUT) {
            timeoutMillis = (Integer) value;
            return;
        }
        try {
            NumberedOptions.set(currentOptions, supportedOptions(), number, value);
        } catch (SocketException e) {
            throw e;
        } catch (IOException | IllegalArgumentException e) {
            throw new SocketException(e.getMessage(), e);
        }
    }

    @Override
    public Object getOption(int number) throws SocketException {
        StreamOptions currentOptions = options();
        return switch (number) {
            case SO_TIMEOUT -> timeoutMillis;
            case SO_BINDADDR -> {
                InetSocketAddress local = endpoint().localAddress();
                yield local == null ? family.any().getAddress() : local.getAddress();
            }
            default -> NumberedOptions.get(currentOptions, supportedOptions(), number);
        };
    }
}
