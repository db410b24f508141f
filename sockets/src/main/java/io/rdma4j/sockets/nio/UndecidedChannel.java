package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.AddressRules;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.io.StreamEndpoint;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a channel has inside: an endpoint, a TCP channel, or nothing as long as nobody has said where it goes. */
abstract class UndecidedChannel extends SocketChannel implements Source {
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

    UndecidedChannel(SelectorProvider provider, AddressRules rules, SocketFamily family, ChannelOptions options) {
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
    public @Nullable SelectableChannel ordinary() {
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
        SocketChannel ordinary = tcp;
        tcp = null;
        if (ordinary != null) {
            ordinary.close();
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
        requireOpen();
        synchronized (state) {
            options.set(name, value, tcp);
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
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

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        SocketChannel inside;
        synchronized (state) {
            inside = tcp;
        }
        options.close(isBlocking());
        if (inside != null) {
            inside.close();
        }
    }
}
