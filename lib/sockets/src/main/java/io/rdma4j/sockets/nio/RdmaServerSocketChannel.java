package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.io.SystemTime;
import io.rdma4j.sockets.io.TransportChoice;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A channel that listens over RDMA, over TCP or over both, according to the address rules for its local address. Thread
 * safe, as specified by {@link ServerSocketChannel}.
 */
public final class RdmaServerSocketChannel extends ServerSocketChannel implements RdmaSelectable {
    private static final int DEFAULT_BACKLOG = 50;
    private static final int MAX_PORTS_TRIED = 20;

    private final AddressRules rules;
    private final SocketFamily family;
    private final ChannelOptions options;
    private final KeyList keys = new KeyList();
    private final ReentrantLock acceptLock = new ReentrantLock();

    /** Guards the fields below. No thread blocks while holding it. */
    private final Object state;

    private volatile @Nullable StreamEndpoint endpoint;
    private volatile @Nullable ServerSocketChannel tcp;

    /** The selector at which a thread waits for RDMA and TCP connections. */
    private @Nullable Selector selector;

    private @Nullable ServerSocket socket;

    /** The local address that a closed socket returns. */
    private volatile @Nullable InetSocketAddress lastLocal;

    /** Opens a channel that is not bound. */
    public RdmaServerSocketChannel(
            SelectorProvider provider, ConnectionService service, AddressRules rules, SocketFamily family) {
        super(provider);
        options = ChannelOptions.ofListener(service);
        state = options.state();
        this.rules = rules;
        this.family = family;
        options.closeWith(this);
    }

    AddressRules rules() {
        return rules;
    }

    SocketFamily family() {
        return family;
    }

    @Override
    public @Nullable StreamEndpoint endpoint() {
        return endpoint;
    }

    @Override
    public @Nullable SelectableChannel platformChannel() {
        return tcp;
    }

    @Override
    public KeyList keys() {
        return keys;
    }

    @Override
    public int readyOps(int interest, boolean toWait) {
        StreamEndpoint current = endpoint;
        return current != null && (current.readiness() & Readiness.IN) != 0 ? interest & SelectionKey.OP_ACCEPT : 0;
    }

    // ---- options and addresses

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.set(this, name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return options.get(this, name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        requireOpen();
        StreamEndpoint current = endpoint;
        if (current != null) {
            return current.localAddress();
        }
        ServerSocketChannel tcpChannel = tcp;
        return tcpChannel == null ? null : tcpChannel.getLocalAddress();
    }

    /** Returns the local address, or the last one before the channel was closed, or null. */
    @Nullable
    InetSocketAddress localOrLast() {
        StreamEndpoint current = endpoint;
        if (current != null) {
            return isOpen() ? current.localAddress() : lastLocal;
        }
        ServerSocketChannel tcpChannel = tcp;
        return tcpChannel == null
                ? null
                : (InetSocketAddress) tcpChannel.socket().getLocalSocketAddress();
    }

    @Override
    public ServerSocket socket() {
        synchronized (state) {
            ServerSocket current = socket;
            if (current == null) {
                current = ChannelServerSocket.of(this);
                socket = current;
            }
            return current;
        }
    }

    // ---- listening

    @Override
    public ServerSocketChannel bind(@Nullable SocketAddress local, int backlog) throws IOException {
        synchronized (state) {
            requireOpen();
            if (endpoint != null || tcp != null) {
                throw new AlreadyBoundException();
            }
            InetSocketAddress to = ChannelAddresses.local(local, family);
            int most = backlog < 1 ? DEFAULT_BACKLOG : backlog;
            switch (rules.transportAt(to)) {
                case RDMA -> endpoint = listenRdma(to, most);
                case TCP -> tcp = listenTcp(to, most);
                case EITHER -> listenBoth(to, most);
            }
        }
        keys.changed();
        return this;
    }

    private StreamEndpoint listenRdma(InetSocketAddress local, int backlog) throws IOException {
        StreamEndpoint created = options.endpoint();
        if (created.state() != StreamEndpoint.State.NEW) {
            created = options.renew();
        }
        boolean listening = false;
        try {
            created.bind(local);
            created.signal().add(keys::changed);
            created.listen(backlog);
            listening = true;
            return created;
        } finally {
            if (!listening) {
                created.close();
            }
        }
    }

    private ServerSocketChannel listenTcp(InetSocketAddress local, int backlog) throws IOException {
        SelectorProvider platform = Platform.provider();
        ServerSocketChannel created = family == SocketFamily.IPV4
                ? platform.openServerSocketChannel(StandardProtocolFamily.INET)
                : platform.openServerSocketChannel();
        boolean listening = false;
        try {
            options.applyTo(created);
            created.configureBlocking(false); // a blocking accept waits at a selector
            created.bind(local, backlog);
            listening = true;
            return created;
        } finally {
            if (!listening) {
                created.close();
            }
        }
    }

    /**
     * Listens on the same port over RDMA and TCP; for port 0, on a port that is free for both. Listens over TCP alone
     * if RDMA cannot be used at the address.
     */
    private void listenBoth(InetSocketAddress local, int backlog) throws IOException {
        for (int tries = 1; tcp == null; tries++) {
            StreamEndpoint rdma;
            try {
                rdma = listenRdma(local, backlog);
            } catch (IOException refused) {
                if (refused instanceof BindException && options.endpoint().isPortTaken(local)) {
                    throw refused;
                }
                tcp = listenTcp(local, backlog);
                TransportChoice.logListeningWithoutRdma(local, refused);
                return;
            }
            InetSocketAddress bound = Objects.requireNonNull(rdma.localAddress());
            try {
                ServerSocketChannel tcpChannel =
                        listenTcp(new InetSocketAddress(local.getAddress(), bound.getPort()), backlog);
                tcp = tcpChannel;
                endpoint = rdma;
            } catch (BindException taken) {
                if (local.getPort() != 0 || tries == MAX_PORTS_TRIED) {
                    throw taken;
                }
            } finally {
                if (tcp == null) {
                    rdma.close();
                }
            }
        }
    }

    @Override
    public @Nullable SocketChannel accept() throws IOException {
        return accept(0);
    }

    /**
     * Accepts a connection.
     *
     * @param timeoutMillis the maximum time to wait in milliseconds; 0 to wait indefinitely
     */
    @Nullable
    SocketChannel accept(int timeoutMillis) throws IOException {
        acceptLock.lock();
        try {
            requireOpen();
            StreamEndpoint current = endpoint;
            ServerSocketChannel tcpChannel = tcp;
            if (current == null && tcpChannel == null) {
                throw new NotYetBoundException();
            }
            if (!isBlocking()) {
                return acceptNow();
            }
            long deadlineNanos =
                    timeoutMillis == 0 ? Long.MAX_VALUE : nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
            SocketChannel accepted = null;
            begin();
            try {
                accepted = acceptNow();
                while (accepted == null && isOpen() && await(deadlineNanos)) {
                    accepted = acceptNow();
                }
            } finally {
                if (accepted == null && Thread.currentThread().isInterrupted()) {
                    begin(); // the wait may have ended before the interrupting thread closes the channel
                }
                end(accepted != null);
            }
            if (accepted == null) {
                throw new SocketTimeoutException("Accept timed out");
            }
            return accepted;
        } finally {
            acceptLock.unlock();
        }
    }

    /**
     * Returns the time of the stack's clock. If the channel listens with TCP, returns the system's time, since the
     * thread then waits at a selector of the platform.
     */
    private long nanoTime() {
        return tcp == null ? options.endpoint().nanoTime() : SystemTime.nanos();
    }

    private @Nullable SocketChannel acceptNow() throws IOException {
        StreamEndpoint current = endpoint;
        StreamEndpoint overRdma = current == null ? null : current.accept();
        if (overRdma != null) {
            return RdmaSocketChannel.accepted(this, options.ofAccepted(overRdma));
        }
        ServerSocketChannel tcpChannel = tcp;
        SocketChannel overTcp = tcpChannel == null ? null : tcpChannel.accept();
        return overTcp == null ? null : RdmaSocketChannel.accepted(this, options.ofAccepted(), overTcp);
    }

    /** Waits for a connection over RDMA or TCP. Returns false on timeout or if the channel was closed. */
    private boolean await(long deadlineNanos) throws IOException {
        StreamEndpoint current = endpoint;
        ServerSocketChannel tcpChannel = tcp;
        if (tcpChannel == null) {
            return current != null && current.await(Readiness.IN, deadlineNanos) != 0;
        }
        Selector waiting = selector(current, tcpChannel);
        if (current != null && (current.readiness() & Readiness.IN) != 0) {
            return true;
        }
        long nanos = deadlineNanos == Long.MAX_VALUE ? 0 : deadlineNanos - nanoTime();
        if (nanos < 0) {
            return false;
        }
        try {
            waiting.select(key -> {}, deadlineNanos == Long.MAX_VALUE ? 0 : Math.max(1, nanos / 1_000_000));
        } catch (ClosedSelectorException closed) {
            return false;
        }
        begin(); // the selector handled interrupts during the wait; begin checks for one
        return true;
    }

    private Selector selector(@Nullable StreamEndpoint current, ServerSocketChannel tcpChannel) throws IOException {
        synchronized (state) {
            Selector created = selector;
            if (created == null) {
                requireOpen();
                created = Platform.provider().openSelector();
                tcpChannel.register(created, SelectionKey.OP_ACCEPT);
                if (current != null) {
                    current.signal().add(created::wakeup);
                }
                selector = created;
            }
            return created;
        }
    }

    // ---- modes and end

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        acceptLock.lock(); // waits for the accept in progress
        try {
            requireOpen();
        } finally {
            acceptLock.unlock();
        }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        synchronized (state) {
            StreamEndpoint current = endpoint;
            lastLocal = current == null ? null : current.localAddress();
            Selector waiting = selector;
            ServerSocketChannel tcpChannel = tcp;
            try (waiting;
                    tcpChannel) {
                options.close(true);
            }
        }
    }

    @Override
    public String toString() {
        StreamEndpoint current = endpoint;
        ServerSocketChannel tcpChannel = tcp;
        String over = current == null
                ? tcpChannel == null ? "" : " over TCP"
                : tcpChannel == null ? " over RDMA" : " over both";
        try {
            return "RdmaServerSocketChannel[" + getLocalAddress() + over + "]";
        } catch (IOException closed) {
            return "RdmaServerSocketChannel[closed]";
        }
    }
}
