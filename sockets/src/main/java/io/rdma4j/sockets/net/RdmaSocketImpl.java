package io.rdma4j.sockets.net;

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
 * What a {@link java.net.Socket} or {@link java.net.ServerSocket} over RDMA does. Reads and writes of several threads take
 * turns; closing wakes all. A socket that nobody refers to any more is closed. Thread safe.
 */
final class RdmaSocketImpl extends SocketImpl {
    private static final String READ_TIMED_OUT = "Read timed out";
    private static final String ACCEPT_TIMED_OUT = "Accept timed out";

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
     * A socket that is not created yet.
     *
     * @param listens whether it is that of a server socket
     */
    RdmaSocketImpl(SocketFamily family, boolean listens) {
        this.family = family;
        this.listens = listens;
    }

    // ---- life

    @Override
    protected void create(boolean stream) throws IOException {
        if (!stream) {
            throw new IOException("Datagram socket creation not supported");
        }
        use(new StreamEndpoint(StreamSettings.DEFAULT));
    }

    private synchronized void use(StreamEndpoint made) {
        endpoint = made;
        options = new StreamOptions(made);
        cleanable = SocketCleaner.watch(this, () -> made);
    }

    private StreamEndpoint endpoint() throws SocketException {
        StreamEndpoint own = endpoint;
        if (own == null || own.state() == StreamEndpoint.State.CLOSED) {
            throw new SocketException("Socket closed");
        }
        return own;
    }

    private StreamEndpoint connected() throws SocketException {
        StreamEndpoint own = endpoint();
        if (own.state() != StreamEndpoint.State.CONNECTED) {
            throw new SocketException("Not connected");
        }
        return own;
    }

    @Override
    protected void close() {
        StreamEndpoint own = endpoint;
        StreamOptions set = options;
        if (own == null || set == null) {
            return;
        }
        set.close();
        synchronized (this) {
            if (cleanable != null) {
                cleanable.clean();
                cleanable = null;
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
            StreamEndpoint own = endpoint();
            InetSocketAddress peer = family.remote(to);
            own.startConnect(peer);
            BlockingCalls.await(
                    own,
                    Readiness.OUT,
                    BlockingCalls.deadlineNanos(timeoutMillis),
                    "Connect timed out",
                    () -> own.finishConnect() ? own : null);
            address = peer.getAddress();
            port = peer.getPort();
            localport = port(own.localAddress());
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
        StreamEndpoint own = endpoint();
        own.bind(family.local(new InetSocketAddress(host, port)));
        address = host;
        localport = port(own.localAddress());
    }

    @Override
    protected void listen(int backlog) throws IOException {
        endpoint().listen(backlog < 1 ? 50 : backlog);
    }

    @Override
    protected void accept(SocketImpl impl) throws IOException {
        StreamEndpoint own = endpoint();
        long deadline = BlockingCalls.deadlineNanos(timeoutMillis);
        BlockingCalls.lock(readLock, deadline, ACCEPT_TIMED_OUT);
        try {
            StreamEndpoint next = BlockingCalls.await(own, Readiness.IN, deadline, ACCEPT_TIMED_OUT, own::accept);
            ((RdmaSocketImpl) impl).accepted(next);
        } finally {
            readLock.unlock();
        }
    }

    private void accepted(StreamEndpoint made) {
        use(made);
        InetSocketAddress peer = made.peerAddress();
        if (peer != null) {
            address = peer.getAddress();
            port = peer.getPort();
        }
        localport = port(made.localAddress());
    }

    // ---- data

    private int read(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        if (length == 0) {
            return 0;
        }
        long deadline = BlockingCalls.deadlineNanos(timeoutMillis);
        BlockingCalls.lock(readLock, deadline, READ_TIMED_OUT);
        try {
            if (ended) {
                return -1; // also when it is closed, as those of Java
            }
            StreamEndpoint own = connected();
            ByteBuffer target = ByteBuffer.wrap(bytes, offset, length);
            int count = BlockingCalls.await(own, Readiness.IN, deadline, READ_TIMED_OUT, () -> {
                int now = own.read(target);
                return now == 0 ? null : now;
            });
            ended = count < 0;
            return count;
        } finally {
            readLock.unlock();
        }
    }

    private void write(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        writeLock.lock();
        try {
            StreamEndpoint own = connected();
            ByteBuffer source = ByteBuffer.wrap(bytes, offset, length);
            while (source.hasRemaining()) {
                BlockingCalls.await(own, Readiness.OUT, Long.MAX_VALUE, "Write timed out", () -> {
                    int now = own.write(source);
                    return now == 0 ? null : now;
                });
            }
        } finally {
            writeLock.unlock();
        }
    }

    @Override
    protected InputStream getInputStream() {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                return RdmaSocketImpl.this.read(bytes, offset, length);
            }

            @Override
            public int available() throws IOException {
                return RdmaSocketImpl.this.available();
            }

            @Override
            public void close() {
                RdmaSocketImpl.this.close();
            }
        };
    }

    @Override
    protected OutputStream getOutputStream() {
        return new OutputStream() {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                RdmaSocketImpl.this.write(bytes, offset, length);
            }

            @Override
            public void close() {
                RdmaSocketImpl.this.close();
            }
        };
    }

    @Override
    protected int available() throws IOException {
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
        StreamOptions set = options();
        if (number == SO_TIMEOUT) {
            timeoutMillis = (Integer) value;
            return;
        }
        try {
            NumberedOptions.set(set, supportedOptions(), number, value);
        } catch (SocketException e) {
            throw e;
        } catch (IOException | IllegalArgumentException e) {
            throw new SocketException(e.getMessage(), e);
        }
    }

    @Override
    public Object getOption(int number) throws SocketException {
        StreamOptions set = options();
        return switch (number) {
            case SO_TIMEOUT -> timeoutMillis;
            case SO_BINDADDR -> {
                InetSocketAddress local = endpoint().localAddress();
                yield local == null ? family.any().getAddress() : local.getAddress();
            }
            default -> NumberedOptions.get(set, supportedOptions(), number);
        };
    }
}
