package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.PollEvents;
import io.rdma4j.tools.command.AddressFamilies;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.ProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A UDP socket of the operating system. Not thread safe, except that any thread may call {@link #close}. */
final class UdpTestSocket implements DatagramTestSocket {
    private final DatagramChannel channel;
    private final Selector selector;
    private final SelectionKey key;

    private UdpTestSocket(DatagramChannel channel, Selector selector) throws IOException {
        this.channel = channel;
        this.selector = selector;
        channel.configureBlocking(false);
        key = channel.register(selector, 0);
    }

    /** Opens a socket. */
    static UdpTestSocket open(ProtocolFamily family) throws IOException {
        return new UdpTestSocket(AddressFamilies.call(() -> DatagramChannel.open(family)), Selector.open());
    }

    @Override
    public void setBuffers(int bytes) throws IOException {
        channel.setOption(StandardSocketOptions.SO_SNDBUF, bytes);
        channel.setOption(StandardSocketOptions.SO_RCVBUF, bytes);
    }

    @Override
    public void bind(InetSocketAddress local) throws IOException {
        AddressFamilies.act(() -> channel.bind(local));
    }

    @Override
    public void connect(InetSocketAddress remote) throws IOException {
        AddressFamilies.act(() -> channel.connect(remote));
    }

    @Override
    public boolean send(ByteBuffer data) throws IOException {
        try {
            return channel.write(data) > 0;
        } catch (PortUnreachableException e) {
            throw withMessage(e);
        }
    }

    @Override
    public boolean sendTo(ByteBuffer data, InetSocketAddress remote) throws IOException {
        return AddressFamilies.call(() -> channel.send(data, remote)) > 0;
    }

    @Override
    public @Nullable InetSocketAddress receive(ByteBuffer target) throws IOException {
        try {
            return (InetSocketAddress) channel.receive(target);
        } catch (PortUnreachableException e) {
            throw withMessage(e);
        }
    }

    /** Returns a copy of the exception with a message. Java's exception has none. */
    private static PortUnreachableException withMessage(PortUnreachableException e) {
        PortUnreachableException copy = new PortUnreachableException("Connection refused");
        copy.initCause(e);
        return copy;
    }

    @Override
    public int await(int event, @Nullable Duration timeout) throws IOException {
        try {
            key.interestOps(event == PollEvents.IN ? SelectionKey.OP_READ : SelectionKey.OP_WRITE);
            selector.selectedKeys().clear();
            return select(timeout) == 0 ? 0 : event;
        } catch (CancelledKeyException | ClosedSelectorException closed) {
            throw new AsynchronousCloseException();
        }
    }

    private int select(@Nullable Duration timeout) throws IOException {
        if (timeout == null) {
            return selector.select();
        }
        return timeout.isPositive() ? selector.select(Math.max(1, timeout.toMillis())) : selector.selectNow();
    }

    @Override
    public void close() {
        try {
            channel.close();
            selector.close();
        } catch (IOException ignored) {
            // Ignored: the socket is no longer needed.
        }
    }
}
