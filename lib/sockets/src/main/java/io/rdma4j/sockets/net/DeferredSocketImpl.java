package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.io.StreamSettings;
import io.rdma4j.sockets.io.TransportChoice;
import io.rdma4j.sockets.options.AddressRules;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A socket implementation that decides between RDMA and TCP by the address rules: a server socket when it is bound, a
 * socket when it is connected. Until then, and over TCP, it delegates to the platform's implementation. The package
 * {@code java.net} must be open to this one. Thread safe.
 */
public final class DeferredSocketImpl extends SocketImpl {
    private static final int MAX_PORTS_TRIED = 20;

    private final ConnectionService service;
    private final AddressRules rules;
    private final SocketFamily family;
    private final boolean listens;
    private final DeferredOptions options;

    /** The implementation in use; null until the socket is created. */
    private volatile @Nullable SocketImpl inner;

    /** An attempt to connect over RDMA, while the implementation in use is still the platform's. */
    private @Nullable RdmaSocketImpl attempt;

    /** The TCP listener next to a listener over RDMA. */
    private volatile @Nullable TcpAcceptor tcp;

    private volatile @Nullable InetAddress boundTo;
    private volatile boolean isClosed;

    /**
     * Creates an implementation without a socket; {@link #create} opens the socket.
     *
     * @param listens true for a server socket
     */
    public DeferredSocketImpl(ConnectionService service, AddressRules rules, boolean listens) {
        this.service = service;
        this.rules = rules;
        this.listens = listens;
        family = SocketFamily.ofJvm();
        options = new DeferredOptions(listens);
    }

    // ---- creation and closing

    @Override
    protected void create(boolean stream) throws IOException {
        SocketImpl created = listens ? PlatformSockets.direct(true) : PlatformSockets.connecting();
        PlatformSockets.create(created);
        replaceBy(created);
    }

    private SocketImpl inner() throws SocketException {
        SocketImpl current = inner;
        if (current == null) {
            throw new SocketException(isClosed ? "Socket closed" : "Socket not created");
        }
        return current;
    }

    /** Switches to another implementation, and closes the former one. */
    private void replaceBy(SocketImpl next) throws IOException {
        SocketImpl former = exchange(next);
        if (former != null) {
            PlatformSockets.close(former);
        }
    }

    private @Nullable SocketImpl exchange(SocketImpl next) throws IOException {
        synchronized (this) {
            if (!isClosed) {
                SocketImpl former = inner;
                inner = next;
                return former;
            }
        }
        PlatformSockets.close(next);
        throw new SocketException("Socket closed");
    }

    @Override
    protected void close() throws IOException {
        RdmaSocketImpl attempted;
        SocketImpl current;
        TcpAcceptor acceptor;
        synchronized (this) {
            isClosed = true;
            attempted = attempt;
            current = inner;
            acceptor = tcp;
        }
        try {
            if (acceptor != null) {
                acceptor.close();
            }
        } finally {
            if (attempted != null) {
                attempted.close();
            }
            if (current != null) {
                PlatformSockets.close(current);
            }
        }
    }

    /** Returns an implementation over RDMA with the options of this socket. */
    private RdmaSocketImpl newRdma() throws IOException {
        RdmaSocketImpl created = new RdmaSocketImpl(service, family, listens);
        created.create(true);
        options.applyTo(created);
        return created;
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
        if (!(remote instanceof InetSocketAddress named) || named.isUnresolved()) {
            PlatformSockets.connect(inner(), remote, timeoutMillis); // reports the reason, or uses a SOCKS proxy
            return;
        }
        InetSocketAddress to = named.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress(InetAddress.getLocalHost(), named.getPort()) // as the platform does
                : named;
        TransportChoice choice = TransportChoice.of(rules, service.refusedPeers(), to);
        try {
            if (choice.isTcp() || choice.mayFallBack() && PlatformSockets.hasSocksProxy(to)) {
                PlatformSockets.connect(inner(), to, timeoutMillis);
            } else if (choice.mayFallBack()) {
                connectOverEither(choice, to, timeoutMillis);
            } else {
                connectOverRdma(to, timeoutMillis);
            }
        } catch (IOException failed) {
            throw choice.onFailed(failed);
        }
    }

    private void connectOverRdma(InetSocketAddress to, int timeoutMillis) throws IOException {
        RdmaSocketImpl created = newRdma();
        boolean isConnected = false;
        try {
            attempt(created);
            InetAddress local = boundTo;
            if (local != null) {
                created.bind(local, PlatformSockets.localPort(inner()));
            }
            created.connect(to, timeoutMillis);
            replaceBy(created);
            isConnected = true;
        } finally {
            attempt(null);
            if (!isConnected) {
                created.close();
            }
        }
    }

    private synchronized void attempt(@Nullable RdmaSocketImpl value) throws SocketException {
        attempt = value;
        if (isClosed && value != null) {
            throw new SocketException("Socket closed");
        }
    }

    private void connectOverEither(TransportChoice choice, InetSocketAddress to, int timeoutMillis) throws IOException {
        long rdmaNanos = choice.rdmaNanos(timeoutMillis);
        int rdmaMillis = Math.max(1, (int) TimeUnit.NANOSECONDS.toMillis(rdmaNanos));
        try {
            connectOverRdma(to, rdmaMillis);
            choice.onRdmaEstablished();
        } catch (IOException refused) {
            if (isClosed
                    || Thread.currentThread().isVirtual()
                            && Thread.currentThread().isInterrupted()) {
                throw refused;
            }
            choice.onFallBack(reason(refused), rdmaNanos);
            try {
                PlatformSockets.connect(inner(), to, timeoutMillis == 0 ? 0 : Math.max(1, timeoutMillis - rdmaMillis));
            } catch (IOException failed) {
                failed.addSuppressed(refused);
                throw failed;
            }
        }
    }

    /**
     * Returns the failure as an attempt without a timeout would report it: a peer that does not answer has also failed.
     */
    private static IOException reason(IOException failure) {
        return failure instanceof SocketTimeoutException ? new ConnectException("Connection timed out") : failure;
    }

    // ---- listening

    @Override
    protected void bind(InetAddress host, int port) throws IOException {
        if (!listens) {
            PlatformSockets.bind(inner(), host, port); // an RDMA socket is bound to the same port when it is connected
            boundTo = host;
            return;
        }
        switch (rules.transportAt(new InetSocketAddress(host, port))) {
            case TCP -> PlatformSockets.bind(inner(), host, port);
            case RDMA -> replaceBy(boundRdma(host, port));
            case EITHER -> bindBoth(host, port);
        }
    }

    private RdmaSocketImpl boundRdma(InetAddress host, int port) throws IOException {
        RdmaSocketImpl created = newRdma();
        boolean isBound = false;
        try {
            created.bind(host, port);
            isBound = true;
            return created;
        } finally {
            if (!isBound) {
                created.close();
            }
        }
    }

    /**
     * Binds to the same port over RDMA and TCP; for port 0, to a port that is free for both. Binds over TCP alone if
     * RDMA cannot be used at the address.
     */
    private void bindBoth(InetAddress host, int port) throws IOException {
        SocketImpl platform = inner();
        for (int tries = 1; tcp == null; tries++) {
            RdmaSocketImpl created;
            try {
                created = boundRdma(host, port);
            } catch (IOException refused) {
                InetSocketAddress local = new InetSocketAddress(host, port);
                if (refused instanceof BindException && isPortTaken(local)) {
                    throw refused;
                }
                PlatformSockets.bind(platform, host, port);
                TransportChoice.logListeningWithoutRdma(local, refused);
                return;
            }
            try {
                PlatformSockets.bind(platform, host, PlatformSockets.localPort(created));
                platform.setOption(SO_TIMEOUT, 0); // the wait for both transports has the timeout
                var _ = exchange(created);
                tcp = new TcpAcceptor(platform);
            } catch (BindException taken) {
                if (port != 0 || tries == MAX_PORTS_TRIED) {
                    throw taken;
                }
            } finally {
                if (tcp == null) {
                    created.close();
                }
            }
        }
    }

    private boolean isPortTaken(InetSocketAddress local) {
        return new StreamEndpoint(service, StreamSettings.DEFAULT).isPortTaken(family.local(local));
    }

    @Override
    protected void listen(int backlog) throws IOException {
        PlatformSockets.listen(inner(), backlog);
        TcpAcceptor acceptor = tcp;
        if (acceptor != null) {
            acceptor.listen(backlog);
        }
    }

    @Override
    protected void accept(SocketImpl socket) throws IOException {
        if (!(socket instanceof DeferredSocketImpl accepted)) {
            throw new IOException("An instance of " + getClass() + " cannot accept a connection with an instance of "
                    + socket.getClass());
        }
        accepted.adopt(accept());
    }

    private SocketImpl accept() throws IOException {
        SocketImpl listener = inner();
        if (!(listener instanceof RdmaSocketImpl overRdma)) {
            return PlatformSockets.accept(listener);
        }
        RdmaSocketImpl next = new RdmaSocketImpl(service, family, false);
        TcpAcceptor acceptor = tcp;
        if (acceptor != null) {
            return overRdma.accept(next, acceptor);
        }
        overRdma.accept(next);
        return next;
    }

    /** Becomes the socket of an accepted connection. */
    private void adopt(SocketImpl connected) throws IOException {
        options.applyTimeoutTo(connected);
        replaceBy(connected);
    }

    // ---- data

    @Override
    protected InputStream getInputStream() throws IOException {
        return PlatformSockets.inputStream(inner());
    }

    @Override
    protected OutputStream getOutputStream() throws IOException {
        return PlatformSockets.outputStream(inner());
    }

    @Override
    protected int available() throws IOException {
        return PlatformSockets.available(inner());
    }

    @Override
    protected void shutdownInput() throws IOException {
        PlatformSockets.shutdownInput(inner());
    }

    @Override
    protected void shutdownOutput() throws IOException {
        PlatformSockets.shutdownOutput(inner());
    }

    @Override
    protected boolean supportsUrgentData() {
        SocketImpl current = inner;
        return current != null && PlatformSockets.supportsUrgentData(current);
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        PlatformSockets.sendUrgentData(inner(), data);
    }

    // ---- addresses

    @Override
    protected @Nullable FileDescriptor getFileDescriptor() {
        SocketImpl current = inner;
        return current == null ? null : PlatformSockets.fileDescriptor(current);
    }

    @Override
    protected @Nullable InetAddress getInetAddress() {
        SocketImpl current = inner;
        return current == null ? null : PlatformSockets.address(current);
    }

    @Override
    protected int getPort() {
        SocketImpl current = inner;
        return current == null ? 0 : PlatformSockets.port(current);
    }

    @Override
    protected int getLocalPort() {
        SocketImpl current = inner;
        return current == null ? 0 : PlatformSockets.localPort(current);
    }

    // ---- options

    @Override
    protected Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    protected <T> void setOption(SocketOption<T> option, T value) throws IOException {
        options.set(inner(), option, value);
    }

    @Override
    @SuppressWarnings({"unchecked", "NullAway"}) // as the implementation of the platform returns it
    protected <T> T getOption(SocketOption<T> option) throws IOException {
        return (T) options.get(inner(), option);
    }

    @Override
    public void setOption(int number, Object value) throws SocketException {
        options.set(inner(), number, value);
    }

    @Override
    public Object getOption(int number) throws SocketException {
        return options.get(inner(), number);
    }
}
