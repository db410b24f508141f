package io.rdma4j.sockets.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A view of a listening channel as a server socket; the channel holds all state. */
final class ChannelServerSocket extends ServerSocket {
    private final RdmaServerSocketChannel channel;
    private final AdaptorOptions options;

    private ChannelServerSocket(RdmaServerSocketChannel channel) throws IOException {
        this.channel = channel;
        options = new AdaptorOptions(channel);
    }

    static ChannelServerSocket of(RdmaServerSocketChannel channel) {
        try {
            return new ChannelServerSocket(channel);
        } catch (IOException impossible) {
            throw new AssertionError("An unbound server socket opens nothing", impossible);
        }
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        bind(local, 0);
    }

    @Override
    public void bind(@Nullable SocketAddress local, int backlog) throws IOException {
        try {
            channel.bind(local, backlog);
        } catch (IllegalStateException | IllegalArgumentException refused) {
            throw ChannelSocket.refusedAddress(refused);
        }
    }

    private @Nullable InetSocketAddress local() {
        return channel.localOrLast();
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress local = local();
        return local == null ? null : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = local();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return local();
    }

    @Override
    public Socket accept() throws IOException {
        if (channel.isOpen() && !isBound()) {
            throw new SocketException("Socket is not bound yet");
        }
        if (channel.isOpen() && !channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        SocketChannel accepted = channel.accept(options.timeoutMillis());
        if (accepted == null) {
            throw new IllegalBlockingModeException();
        }
        return accepted.socket();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public ServerSocketChannel getChannel() {
        return channel;
    }

    @Override
    public boolean isBound() {
        return local() != null;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        options.setTimeout(millis);
    }

    @Override
    public int getSoTimeout() throws IOException {
        return options.timeout();
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        options.set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return options.get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        options.setSize(StandardSocketOptions.SO_RCVBUF, size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return options.get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // No effect: RDMA has no such preferences.
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public String toString() {
        return isBound() ? "ServerSocket[" + channel + "]" : "ServerSocket[unbound]";
    }
}
