package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.io.TransportChoice;
import io.rdma4j.sockets.net.BlockingCalls;
import io.rdma4j.sockets.options.AddressRules;
import io.rdma4j.sockets.options.AddressRules.Transport;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A channel over an endpoint or over a TCP channel. It has neither until its address determines the transport
 * (decision 016).
 */
abstract class DeferredChannel extends SocketChannel implements RdmaSelectable {
    final AddressRules rules;
    final SocketFamily family;
    final KeyList keys = new KeyList();
    private final ChannelOptions options;

    /** Guards the internal state of the channel. No thread waits for a peer while holding it. */
    final Object state;

    /** The endpoint and the TCP channel in use; they change only under {@link #state}. */
    volatile @Nullable StreamEndpoint endpoint;

    volatile @Nullable SocketChannel tcp;

    /** The requested local address. */
    @Nullable
    InetSocketAddress boundTo;

    /** The remote address; changes under {@link #state}. */
    volatile @Nullable InetSocketAddress target;

    /** The local address that a closed socket returns. */
    private volatile @Nullable InetSocketAddress lastLocal;

    /** The remote address that a closed socket returns. */
    private volatile @Nullable InetSocketAddress lastRemote;

    /** The choice of the transport for {@link #target}. */
    private @Nullable TransportChoice choice;

    /** True while TCP is tried if the attempt over RDMA fails. */
    private boolean mayFallBack;

    /** The time for which an attempt over RDMA waits for the peer before TCP is tried. */
    private long overRdmaNanos;

    /** The reason why RDMA cannot be used at the local address, or null. */
    private @Nullable IOException unusable;

    /** The reason why TCP could not be tried, or failed immediately. */
    volatile @Nullable IOException tcpFailure;

    DeferredChannel(SelectorProvider provider, AddressRules rules, SocketFamily family, ChannelOptions options) {
        super(provider);
        this.rules = rules;
        this.family = family;
        this.options = options;
        state = options.state();
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

    /** Binds to the requested address over the transport that the rules choose for it. */
    void bindNow(InetSocketAddress to) throws IOException {
        Transport transport = rules.transportAt(to);
        if (transport == Transport.TCP) {
            switchToTcp();
            return;
        }
        try {
            switchToRdma();
        } catch (IOException refused) {
            boolean mayUseTcp = transport == Transport.EITHER
                    && !(refused instanceof BindException && options.endpoint().isPortTaken(to));
            if (!mayUseTcp) {
                throw refused;
            }
            switchToTcp();
            unusable = refused;
        }
    }

    /**
     * Returns the address for the next transport: the requested address, with the channel's current port, since the
     * program may have read it.
     */
    private @Nullable InetSocketAddress localToKeep() throws IOException {
        InetSocketAddress requested = boundTo;
        SocketAddress current = requested == null || requested.getPort() != 0 ? null : getLocalAddress();
        return requested != null && current instanceof InetSocketAddress bound
                ? new InetSocketAddress(requested.getAddress(), bound.getPort())
                : requested;
    }

    /**
     * Binds to an address. If the program has requested any port and the channel's earlier port is not free, binds to
     * any.
     */
    private void bind(InetSocketAddress local, Binding binding) throws IOException {
        InetSocketAddress requested = Objects.requireNonNull(boundTo);
        try {
            binding.bind(local);
        } catch (BindException taken) {
            if (local.equals(requested)) {
                throw taken;
            }
            binding.bind(requested);
        }
    }

    private interface Binding {
        void bind(InetSocketAddress local) throws IOException;
    }

    /** Switches to RDMA and binds to the requested address. */
    StreamEndpoint switchToRdma() throws IOException {
        synchronized (state) {
            requireOpen();
            StreamEndpoint current = endpoint;
            if (current != null) {
                return current;
            }
            InetSocketAddress local = localToKeep();
            closeCurrent();
            current = options.endpoint();
            if (current.state() != StreamEndpoint.State.NEW) {
                current = options.renew();
            }
            if (local != null) {
                bind(local, current::bind);
            }
            current.signal().add(keys::changed);
            endpoint = current;
            return current;
        }
    }

    /** Switches to TCP and binds to the requested address. */
    SocketChannel switchToTcp() throws IOException {
        synchronized (state) {
            requireOpen();
            SocketChannel current = tcp;
            if (current != null) {
                return current;
            }
            InetSocketAddress local = localToKeep();
            closeCurrent();
            current = openTcp();
            boolean done = false;
            try {
                options.applyTo(current);
                current.configureBlocking(isBlocking());
                if (local != null) {
                    bind(local, current::bind);
                }
                tcp = current;
                done = true;
                return current;
            } finally {
                if (!done) {
                    current.close();
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

    private void closeCurrent() throws IOException {
        StreamEndpoint rdma = endpoint;
        endpoint = null;
        SocketChannel opened = tcp;
        tcp = null;
        try (opened) {
            if (rdma != null) {
                rdma.close();
            }
        }
    }

    /**
     * Starts to connect over RDMA, or creates the TCP channel.
     *
     * @param timeoutMillis the time for which the program waits for the peer, in milliseconds; 0 to wait indefinitely
     * @param pending called when the transport is known
     */
    void start(InetSocketAddress to, int timeoutMillis, Runnable pending) throws IOException {
        synchronized (state) {
            target = to;
            TransportChoice chosen =
                    TransportChoice.of(rules, options.endpoint().refusedPeers(), to);
            choice = chosen;
            if (chosen.isTcp()) {
                switchToTcp();
                pending.run();
                return;
            }
            mayFallBack = chosen.mayFallBack();
            IOException known = unusable;
            if (mayFallBack && known != null) {
                fallBack(known);
                pending.run();
                return;
            }
            try {
                StreamEndpoint current = switchToRdma();
                pending.run();
                current.startConnect(to);
                if (mayFallBack) {
                    long nanos = chosen.rdmaNanos(timeoutMillis);
                    overRdmaNanos = nanos;
                    Thread.ofVirtual().name("rdma4j-before-tcp").start(() -> giveUp(current, nanos));
                }
            } catch (IOException refused) {
                if (!mayFallBack) {
                    throw refused;
                }
                fallBack(refused);
                pending.run();
            }
        }
    }

    private static void giveUp(StreamEndpoint attempt, long nanos) {
        try {
            BlockingCalls.awaitRequest(attempt);
            attempt.await(Readiness.OUT, attempt.nanoTime() + nanos);
        } catch (InterruptedIOException impossible) {
            // No code interrupts this thread.
        }
        attempt.giveUpConnecting();
    }

    /** Switches to TCP if RDMA has failed and the rules allow it. Then returns true, even if TCP fails immediately. */
    boolean fallBackAfterFailure() {
        synchronized (state) {
            StreamEndpoint current = endpoint;
            if (!mayFallBack || current == null || !isOpen()) {
                return false;
            }
            StreamEndpoint.State now = current.state();
            if (now != StreamEndpoint.State.FAILED && now != StreamEndpoint.State.CLOSED) {
                return false;
            }
            IOException why = current.connectFailure();
            fallBack(why == null ? new SocketException("Socket closed") : why);
            return true;
        }
    }

    /** Returns the time of the stack's clock, which deadlines use. */
    final long nanoTime() {
        return options.endpoint().nanoTime();
    }

    /** Returns the deadline of a timeout that starts now; 0 means no timeout. */
    final long deadlineNanos(int timeoutMillis) {
        return BlockingCalls.deadlineNanos(options.endpoint(), timeoutMillis);
    }

    /** Handles the successful end of an attempt to connect. */
    void onConnected() {
        TransportChoice chosen = choice;
        if (chosen != null && tcp == null) {
            chosen.onRdmaEstablished();
        }
    }

    /** Handles the failure of an attempt to connect. Returns the exception to throw. */
    IOException onConnectFailed(IOException failed) {
        TransportChoice chosen = choice;
        return chosen == null ? failed : chosen.onFailed(failed);
    }

    private void fallBack(IOException why) {
        mayFallBack = false;
        Objects.requireNonNull(choice).onFallBack(why, overRdmaNanos);
        try {
            SocketChannel tcpChannel = switchToTcp();
            if (!tcpChannel.isBlocking()) {
                tcpChannel.connect(Objects.requireNonNull(target)); // the waiting thread connects a blocking one
            }
        } catch (IOException refused) {
            tcpFailure = refused;
        } catch (RuntimeException refused) { // for example an option that TCP does not accept
            tcpFailure = new SocketException("TCP failed: " + refused.getMessage(), refused);
        }
    }

    /** Calls the TCP channel. If that channel closes itself, this channel is also closed. */
    <T> T callTcp(SocketChannel tcpChannel, TcpCall<T> call) throws IOException {
        try {
            return call.call(tcpChannel);
        } catch (IOException failed) {
            if (!tcpChannel.isOpen() && isOpen()) {
                close();
            }
            throw failed;
        }
    }

    interface TcpCall<T> {
        T call(SocketChannel tcpChannel) throws IOException;
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
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
        SocketChannel tcpChannel = tcp;
        if (tcpChannel != null) {
            return tcpChannel.getLocalAddress();
        }
        StreamEndpoint current = endpoint;
        return current == null ? null : current.localAddress();
    }

    /** Returns the peer's address, or null. */
    @Nullable
    SocketAddress remoteAddress() throws IOException {
        SocketChannel tcpChannel = tcp;
        StreamEndpoint current = endpoint;
        return tcpChannel != null ? tcpChannel.getRemoteAddress() : current == null ? null : current.peerAddress();
    }

    /** Returns whether the channel is or was connected. */
    abstract boolean hasConnected();

    /** Returns the local address, or the last one before the channel was closed, or null. */
    @Nullable
    InetSocketAddress localOrLast() {
        SocketChannel tcpChannel = tcp;
        if (tcpChannel != null) {
            return (InetSocketAddress) tcpChannel.socket().getLocalSocketAddress();
        }
        StreamEndpoint current = endpoint;
        return !isOpen() ? lastLocal : current == null ? null : current.localAddress();
    }

    /** Returns the address to which the channel is or was connected, or tried to connect, or null. */
    @Nullable
    InetSocketAddress remoteOrLast() {
        SocketChannel tcpChannel = tcp;
        InetSocketAddress to = target;
        if (to != null) {
            return to;
        }
        if (tcpChannel != null) {
            return (InetSocketAddress) tcpChannel.socket().getRemoteSocketAddress();
        }
        StreamEndpoint current = endpoint;
        return !isOpen() ? lastRemote : current == null ? null : current.peerAddress();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        SocketChannel tcpChannel;
        synchronized (state) {
            tcpChannel = tcp;
            StreamEndpoint current = endpoint;
            if (current != null) {
                boolean isRequested = boundTo != null || target == null || hasConnected();
                lastLocal = isRequested
                        ? current.localAddress()
                        : null; // otherwise it was chosen for an attempt that failed
                lastRemote = current.peerAddress();
            }
        }
        try (tcpChannel) {
            options.close(isBlocking());
        }
    }
}
