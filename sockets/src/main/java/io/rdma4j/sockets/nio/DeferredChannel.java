package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.AddressRules;
import io.rdma4j.sockets.AddressRules.Way;
import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.io.StreamEndpoint;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a channel has inside: an endpoint, a TCP channel, or nothing as long as nobody has said where it goes. */
abstract class DeferredChannel extends SocketChannel implements Source {
    /** How long an attempt over RDMA may take before TCP is tried, where the rules allow both. */
    private static final Duration BEFORE_TCP = Duration.ofSeconds(1);

    final AddressRules rules;
    final SocketFamily family;
    final KeyList keys = new KeyList();
    private final ChannelOptions options;

    /** Guards what the channel is. Nobody waits for a peer while holding it. */
    final Object state = new Object();

    /** What is inside; changes under {@link #state} only. */
    volatile @Nullable StreamEndpoint endpoint;

    volatile @Nullable SocketChannel tcp;

    /** Where it was asked to be bound to. */
    @Nullable
    InetSocketAddress boundTo;

    /** Where it connects to, and whether over TCP if not over RDMA; under {@link #state}. */
    volatile @Nullable InetSocketAddress target;

    /** What a socket still tells when it is closed. */
    private volatile @Nullable InetSocketAddress lastLocal;

    private volatile @Nullable InetSocketAddress lastRemote;

    private boolean mayFallBack;

    /** Why TCP could not be tried, or failed at once. */
    volatile @Nullable IOException tcpFailure;

    DeferredChannel(SelectorProvider provider, AddressRules rules, SocketFamily family, ChannelOptions options) {
        super(provider);
        this.rules = rules;
        this.family = family;
        this.options = options;
        options.closeWith(this);
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

    void requireOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** Becomes a channel over RDMA, bound as asked. */
    StreamEndpoint becomeRdma() throws IOException {
        synchronized (state) {
            requireOpen();
            StreamEndpoint own = endpoint;
            if (own != null) {
                return own;
            }
            closeInside();
            own = options.endpoint();
            if (own.state() != StreamEndpoint.State.NEW) {
                own = options.renew();
            }
            InetSocketAddress local = boundTo;
            if (local != null) {
                own.bind(local);
            }
            own.addListener(keys::changed);
            endpoint = own;
            return own;
        }
    }

    /** Becomes a channel over TCP, bound as asked. */
    SocketChannel becomeTcp() throws IOException {
        synchronized (state) {
            requireOpen();
            SocketChannel own = tcp;
            if (own != null) {
                return own;
            }
            closeInside();
            own = openTcp();
            boolean done = false;
            try {
                options.applyTo(own);
                own.configureBlocking(isBlocking());
                InetSocketAddress local = boundTo;
                if (local != null) {
                    own.bind(local);
                }
                tcp = own;
                done = true;
                return own;
            } finally {
                if (!done) {
                    own.close();
                }
                keys.changed();
            }
        }
    }

    private SocketChannel openTcp() throws IOException {
        SelectorProvider platform = Platform.provider();
        return family == SocketFamily.IPV4
                ? platform.openSocketChannel(StandardProtocolFamily.INET)
                : platform.openSocketChannel();
    }

    private void closeInside() throws IOException {
        StreamEndpoint rdma = endpoint;
        endpoint = null;
        if (rdma != null) {
            rdma.close();
        }
        SocketChannel opened = tcp;
        tcp = null;
        if (opened != null) {
            opened.close();
        }
    }

    /**
     * Starts to connect: over RDMA, or makes the TCP channel for it.
     *
     * @param pending what to do once it is known which
     */
    void start(InetSocketAddress to, Runnable pending) throws IOException {
        synchronized (state) {
            target = to;
            Way way = ChannelAddresses.way(rules, to);
            if (way == Way.TCP) {
                becomeTcp();
                pending.run();
                return;
            }
            mayFallBack = way == Way.EITHER;
            try {
                StreamEndpoint own = becomeRdma();
                pending.run();
                own.startConnect(to);
                if (mayFallBack) {
                    Thread.ofVirtual().name("rdma4j-before-tcp").start(() -> giveUp(own));
                }
            } catch (IOException refused) {
                if (!mayFallBack) {
                    throw refused;
                }
                fallBack();
                pending.run();
            }
        }
    }

    private static void giveUp(StreamEndpoint attempt) {
        attempt.await(Readiness.OUT, System.nanoTime() + BEFORE_TCP.toNanos());
        attempt.giveUpConnecting();
    }

    /** Goes over to TCP if RDMA has failed and the rules allow; then returns true, also if TCP fails at once. */
    boolean fallsBack() {
        synchronized (state) {
            StreamEndpoint own = endpoint;
            if (!mayFallBack || own == null || !isOpen()) {
                return false;
            }
            StreamEndpoint.State now = own.state();
            if (now != StreamEndpoint.State.FAILED && now != StreamEndpoint.State.CLOSED) {
                return false;
            }
            fallBack();
            return true;
        }
    }

    private void fallBack() {
        mayFallBack = false;
        try {
            SocketChannel inside = becomeTcp();
            if (!inside.isBlocking()) {
                inside.connect(Objects.requireNonNull(target)); // a blocking one is connected by who waits
            }
        } catch (IOException refused) {
            tcpFailure = refused;
        } catch (RuntimeException refused) { // an option that TCP does not take, for example
            tcpFailure = new SocketException("TCP refused: " + refused.getMessage(), refused);
        }
    }

    /** Calls the TCP channel inside; when it is closed by that, so is this one. */
    <T> T relay(SocketChannel inside, TcpCall<T> call) throws IOException {
        try {
            return call.call(inside);
        } catch (IOException failed) {
            if (!inside.isOpen() && isOpen()) {
                close();
            }
            throw failed;
        }
    }

    interface TcpCall<T> {
        T call(SocketChannel inside) throws IOException;
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.requireSettable(name, value);
        requireOpen();
        synchronized (state) {
            options.set(name, value, tcp);
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        options.requireSupported(name);
        requireOpen();
        return options.get(name, tcp);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        requireOpen();
        SocketChannel inside = tcp;
        if (inside != null) {
            return inside.getLocalAddress();
        }
        StreamEndpoint own = endpoint;
        return own == null ? null : own.localAddress();
    }

    /** The peer's address, or null. */
    @Nullable
    SocketAddress remoteAddress() throws IOException {
        SocketChannel inside = tcp;
        StreamEndpoint own = endpoint;
        return inside != null ? inside.getRemoteAddress() : own == null ? null : own.peerAddress();
    }

    /** Whether it is or was connected. */
    abstract boolean hasConnected();

    /** The address that it has or had before it was closed, or null. */
    @Nullable
    InetSocketAddress localOrLast() {
        SocketChannel inside = tcp;
        if (inside != null) {
            return (InetSocketAddress) inside.socket().getLocalSocketAddress();
        }
        StreamEndpoint own = endpoint;
        return !isOpen() ? lastLocal : own == null ? null : own.localAddress();
    }

    /** The address that it is or was connected to, or was to be, or null. */
    @Nullable
    InetSocketAddress remoteOrLast() {
        SocketChannel inside = tcp;
        InetSocketAddress to = target;
        if (to != null) {
            return to;
        }
        if (inside != null) {
            return (InetSocketAddress) inside.socket().getRemoteSocketAddress();
        }
        StreamEndpoint own = endpoint;
        return !isOpen() ? lastRemote : own == null ? null : own.peerAddress();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        SocketChannel inside;
        synchronized (state) {
            inside = tcp;
            StreamEndpoint own = endpoint;
            if (own != null) {
                boolean isAsked = boundTo != null || target == null || hasConnected();
                lastLocal = isAsked ? own.localAddress() : null; // else it was chosen for an attempt that failed
                lastRemote = own.peerAddress();
            }
        }
        options.close(isBlocking());
        if (inside != null) {
            inside.close();
        }
    }
}
