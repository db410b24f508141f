package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.net.SocketStreams;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A view of a channel as a socket; the channel holds all state. Streams can be used only while the channel is blocking.
 */
final class ChannelSocket extends Socket implements SocketStreams.Calls {
    private final RdmaSocketChannel channel;
    private final AdaptorOptions options;
    private volatile boolean urgentInline;

    private ChannelSocket(RdmaSocketChannel channel) {
        this.channel = channel;
        options = new AdaptorOptions(channel);
    }

    static ChannelSocket of(RdmaSocketChannel channel) {
        return new ChannelSocket(channel);
    }

    private void requireBlocking() {
        if (!channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    // ---- connecting

    @Override
    public void connect(SocketAddress remote) throws IOException {
        connect(remote, 0);
    }

    @Override
    public void connect(SocketAddress remote, int timeout) throws IOException {
        if (remote == null) {
            throw new IllegalArgumentException("connect: The address can't be null");
        }
        if (timeout < 0) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        options.requireOpen();
        if (channel.isConnected()) {
            throw new SocketException("already connected");
        }
        if (remote instanceof InetSocketAddress to && to.isUnresolved()) {
            channel.close(); // as every failed attempt to connect does
            throw new UnknownHostException(to.getHostString());
        }
        requireBlocking();
        channel.connect(remote, timeout);
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        try {
            channel.bind(local);
        } catch (IllegalStateException | IllegalArgumentException refused) {
            throw refusedAddress(refused);
        }
    }

    /** Translates exceptions that channels throw for an address or state to exceptions of sockets. */
    static SocketException refusedAddress(RuntimeException refused) {
        String why = switch (refused) {
            case AlreadyBoundException bound -> "Already bound";
            case ConnectionPendingException pending -> "Already connecting";
            case UnresolvedAddressException unresolved -> "Unresolved address";
            case UnsupportedAddressTypeException other -> "Unsupported address type";
            default -> throw refused;
        };
        return new SocketException(why, refused);
    }

    // ---- addresses

    private @Nullable InetSocketAddress local() {
        return channel.localOrLast();
    }

    private @Nullable InetSocketAddress remote() {
        return channel.remoteOrLast();
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress remote = remote();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        InetSocketAddress local = local();
        return local == null || !channel.isOpen() ? new InetSocketAddress(0).getAddress() : local.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = remote();
        return remote == null ? 0 : remote.getPort();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = local();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return remote();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return local();
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    // ---- streams

    private void requireConnected() throws SocketException {
        options.requireOpen();
        if (!channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
    }

    @Override
    public InputStream getInputStream() throws IOException {
        requireConnected();
        if (channel.isInputShut()) {
            throw new SocketException("Socket input is shutdown");
        }
        return SocketStreams.input(this);
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        requireConnected();
        if (channel.isOutputShut()) {
            throw new SocketException("Socket output is shutdown");
        }
        return SocketStreams.output(this);
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        requireBlocking();
        return channel.readWithTimeout(ByteBuffer.wrap(bytes, offset, length), options.timeoutMillis());
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        ByteBuffer source = ByteBuffer.wrap(bytes, offset, length);
        if (length == 0) {
            return;
        }
        requireBlocking();
        if (channel.isOutputShut()) {
            throw new ClosedChannelException();
        }
        while (source.hasRemaining()) {
            channel.write(source);
        }
    }

    @Override
    public int available() throws IOException {
        return channel.availableBytes();
    }

    // ---- options

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        options.set(StandardSocketOptions.TCP_NODELAY, on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return options.get(StandardSocketOptions.TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        options.set(StandardSocketOptions.SO_LINGER, on ? Math.clamp(seconds, -1, 65_535) : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return options.get(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void sendUrgentData(int value) throws IOException {
        requireBlocking();
        throw new SocketException("Urgent data not supported");
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        options.requireOpen();
        urgentInline = on; // urgent data never arrives
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        options.requireOpen();
        return urgentInline;
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        options.setTimeout(millis);
    }

    @Override
    public int getSoTimeout() throws SocketException {
        return options.timeout();
    }

    @Override
    public void setSendBufferSize(int size) throws SocketException {
        options.setSize(StandardSocketOptions.SO_SNDBUF, size);
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return options.get(StandardSocketOptions.SO_SNDBUF);
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
    public void setKeepAlive(boolean on) throws SocketException {
        options.set(StandardSocketOptions.SO_KEEPALIVE, on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return options.get(StandardSocketOptions.SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int value) throws SocketException {
        options.set(StandardSocketOptions.IP_TOS, value);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return options.get(StandardSocketOptions.IP_TOS);
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
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // No effect: RDMA has no such preferences.
    }

    @Override
    public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
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

    // ---- end

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public void shutdownInput() throws IOException {
        try {
            channel.shutdownInput();
        } catch (NotYetConnectedException unconnected) {
            throw new SocketException("Socket is not connected", unconnected);
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        try {
            channel.shutdownOutput();
        } catch (NotYetConnectedException unconnected) {
            throw new SocketException("Socket is not connected", unconnected);
        }
    }

    @Override
    public boolean isConnected() {
        return channel.isConnected();
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
    public boolean isInputShutdown() {
        return channel.isInputShut();
    }

    @Override
    public boolean isOutputShutdown() {
        return channel.isOutputShut();
    }

    @Override
    public String toString() {
        return channel.isConnected() ? "Socket[" + channel + "]" : "Socket[unconnected]";
    }
}
