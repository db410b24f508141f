package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.AddressRules;
import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.io.StreamOptions;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
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
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A channel that listens for RDMA, for TCP or for both, as the address rules say of the address that it is bound to. Thread
 * safe, as {@link ServerSocketChannel} is.
 */
public final class RdmaServerSocketChannel extends ServerSocketChannel implements Source {
    private static final int USUAL_BACKLOG = 50;
    private static final int MOST_PORTS_TRIED = 20;

    private final AddressRules rules;
    private final SocketFamily family;
    private final ChannelOptions options = ChannelOptions.of(StreamOptions.OF_LISTENERS);
    private final KeyList keys = new KeyList();
    private final ReentrantLock acceptLock = new ReentrantLock();

    /** Guards what the channel is: everything below. Nobody waits while holding it. */
    private final Object state = new Object();

    private volatile @Nullable StreamEndpoint endpoint;
    private volatile @Nullable ServerSocketChannel tcp;

    /** Where a thread waits for both. */
    private @Nullable Selector both;

    private @Nullable ServerSocket socket;

    /** What a socket still tells when it is closed. */
    private volatile @Nullable InetSocketAddress lastLocal;

    /** Opens a channel that is not bound. */
    public RdmaServerSocketChannel(SelectorProvider provider, AddressRules rules, SocketFamily family) {
        super(provider);
        this.rules = rules;
        this.family = family;
        options.closeWith(this);
    }

    AddressRules rules() {
        return rules;
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
        StreamEndpoint own = endpoint;
        return own != null && (own.readiness() & Readiness.IN) != 0 ? interest & SelectionKey.OP_ACCEPT : 0;
    }

    private void requireOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    // ---- options and addresses

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.requireSettable(name, value);
        requireOpen();
        synchronized (state) {
            options.set(name, value, endpoint == null ? tcp : null);
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        options.requireSupported(name);
        requireOpen();
        return options.get(name, endpoint == null ? tcp : null);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        requireOpen();
        StreamEndpoint own = endpoint;
        if (own != null) {
            return own.localAddress();
        }
        ServerSocketChannel inside = tcp;
        return inside == null ? null : inside.getLocalAddress();
    }

    /** The address that it has or had before it was closed, or null. */
    @Nullable
    InetSocketAddress localOrLast() {
        StreamEndpoint own = endpoint;
        if (own != null) {
            return isOpen() ? own.localAddress() : lastLocal;
        }
        ServerSocketChannel inside = tcp;
        return inside == null ? null : (InetSocketAddress) inside.socket().getLocalSocketAddress();
    }

    @Override
    public ServerSocket socket() {
        synchronized (state) {
            ServerSocket own = socket;
            if (own == null) {
                own = ChannelServerSocket.of(this);
                socket = own;
            }
            return own;
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
            int most = backlog < 1 ? USUAL_BACKLOG : backlog;
            switch (ChannelAddresses.way(rules, to)) {
                case RDMA -> endpoint = listenRdma(to, most);
                case TCP -> tcp = listenTcp(to, most);
                case EITHER -> listenBoth(to, most);
            }
        }
        keys.changed();
        return this;
    }

    private StreamEndpoint listenRdma(InetSocketAddress local, int backlog) throws IOException {
        StreamEndpoint made = options.endpoint();
        if (made.state() != StreamEndpoint.State.NEW) {
            made = options.renew();
        }
        boolean listening = false;
        try {
            made.bind(local);
            made.addListener(keys::changed);
            made.listen(backlog);
            listening = true;
            return made;
        } finally {
            if (!listening) {
                made.close();
            }
        }
    }

    private ServerSocketChannel listenTcp(InetSocketAddress local, int backlog) throws IOException {
        SelectorProvider platform = Platform.provider();
        ServerSocketChannel made = family == SocketFamily.IPV4
                ? platform.openServerSocketChannel(StandardProtocolFamily.INET)
                : platform.openServerSocketChannel();
        boolean listening = false;
        try {
            options.applyTo(made);
            made.configureBlocking(false); // a blocking accept waits at a selector
            made.bind(local, backlog);
            listening = true;
            return made;
        } finally {
            if (!listening) {
                made.close();
            }
        }
    }

    /** Listens on the same port for both; where any port will do, on one that is free for both. */
    private void listenBoth(InetSocketAddress local, int backlog) throws IOException {
        for (int tries = 1; tcp == null; tries++) {
            StreamEndpoint rdma = listenRdma(local, backlog);
            InetSocketAddress bound = Objects.requireNonNull(rdma.localAddress());
            try {
                ServerSocketChannel inside =
                        listenTcp(new InetSocketAddress(local.getAddress(), bound.getPort()), backlog);
                tcp = inside;
                endpoint = rdma;
            } catch (BindException taken) {
                if (local.getPort() != 0 || tries == MOST_PORTS_TRIED) {
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
        return accept(Long.MAX_VALUE);
    }

    /** Accepts, and waits until a time of {@link System#nanoTime} at most. */
    @Nullable
    SocketChannel accept(long deadlineNanos) throws IOException {
        acceptLock.lock();
        try {
            requireOpen();
            StreamEndpoint own = endpoint;
            ServerSocketChannel inside = tcp;
            if (own == null && inside == null) {
                throw new NotYetBoundException();
            }
            if (!isBlocking()) {
                return acceptNow();
            }
            SocketChannel accepted = null;
            begin();
            try {
                accepted = acceptNow();
                while (accepted == null && isOpen() && await(deadlineNanos)) {
                    accepted = acceptNow();
                }
            } finally {
                if (accepted == null && Thread.currentThread().isInterrupted()) {
                    begin(); // the wait may have ended before who interrupts came to close the channel
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

    private @Nullable SocketChannel acceptNow() throws IOException {
        StreamEndpoint own = endpoint;
        StreamEndpoint overRdma = own == null ? null : own.accept();
        if (overRdma != null) {
            return RdmaSocketChannel.accepted(this, options.ofAccepted(overRdma));
        }
        ServerSocketChannel inside = tcp;
        SocketChannel overTcp = inside == null ? null : inside.accept();
        return overTcp == null ? null : RdmaSocketChannel.accepted(this, options.ofAccepted(), overTcp);
    }

    /** Waits for a connection over either; false if the time is over. */
    private boolean await(long deadlineNanos) throws IOException {
        StreamEndpoint own = endpoint;
        ServerSocketChannel inside = tcp;
        if (inside == null) {
            return own != null && own.await(Readiness.IN, deadlineNanos) != 0;
        }
        Selector waiting = both(own, inside);
        if (own != null && (own.readiness() & Readiness.IN) != 0) {
            return true;
        }
        long nanos = deadlineNanos == Long.MAX_VALUE ? 0 : deadlineNanos - System.nanoTime();
        if (nanos < 0) {
            return false;
        }
        try {
            waiting.select(key -> {}, deadlineNanos == Long.MAX_VALUE ? 0 : Math.max(1, nanos / 1_000_000));
        } catch (ClosedSelectorException closed) {
            return false;
        }
        begin(); // the selector had the thread's interrupts for itself, and this looks whether there was one
        return true;
    }

    private Selector both(@Nullable StreamEndpoint own, ServerSocketChannel inside) throws IOException {
        synchronized (state) {
            Selector made = both;
            if (made == null) {
                requireOpen();
                made = Platform.provider().openSelector();
                inside.register(made, SelectionKey.OP_ACCEPT);
                if (own != null) {
                    own.addListener(made::wakeup);
                }
                both = made;
            }
            return made;
        }
    }

    // ---- modes and end

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        acceptLock.lock(); // after the accept that goes on
        try {
            requireOpen();
        } finally {
            acceptLock.unlock();
        }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        synchronized (state) {
            StreamEndpoint own = endpoint;
            lastLocal = own == null ? null : own.localAddress();
            options.close(true);
            ServerSocketChannel inside = tcp;
            if (inside != null) {
                inside.close();
            }
            if (both != null) {
                both.close();
            }
        }
    }

    @Override
    public String toString() {
        StreamEndpoint own = endpoint;
        ServerSocketChannel inside = tcp;
        String over = own == null ? inside == null ? "" : " over TCP" : inside == null ? " over RDMA" : " over both";
        try {
            return "RdmaServerSocketChannel[" + getLocalAddress() + over + "]";
        } catch (IOException closed) {
            return "RdmaServerSocketChannel[closed]";
        }
    }
}
