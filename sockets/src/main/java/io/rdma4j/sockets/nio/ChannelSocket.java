package io.rdma4j.sockets.nio;

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
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A socket view of a channel, which has all the state. Streams can be used only while the channel is blocking. */
final class ChannelSocket extends Socket {
    private final RdmaSocketChannel channel;
    private volatile int timeoutMillis;
    private volatile boolean urgentInline;

    private ChannelSocket(RdmaSocketChannel channel) {
        this.channel = channel;
    }

    static ChannelSocket of(RdmaSocketChannel channel) {
        return new ChannelSocket(channel);
    }

    static long deadline(int timeoutMillis) {
        return timeoutMillis == 0 ? Long.MAX_VALUE : System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    }

    private void requireOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
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
        requireOpen();
        if (channel.isConnected()) {
            throw new SocketException("already connected");
        }
        if (remote instanceof InetSocketAddress to && to.isUnresolved()) {
            channel.close(); // as every failed attempt to connect does
            throw new UnknownHostException(to.getHostString());
        }
        requireBlocking();
        channel.connect(remote, deadline(timeout));
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        try {
            channel.bind(local);
        } catch (IllegalStateException | IllegalArgumentException refused) {
            throw refusedAddress(refused);
        }
    }

    /** Translates the exceptions that channels throw for an address or state to those of sockets. */
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
        requireOpen();
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
        return new In();
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        requireConnected();
        if (channel.isOutputShut()) {
            throw new SocketException("Socket output is shutdown");
        }
        return new Out();
    }

    private final class In extends InputStream {
        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, bytes.length);
            if (length == 0) {
                return 0;
            }
            requireBlocking();
            return channel.readUntil(ByteBuffer.wrap(bytes, offset, length), timeoutMillis);
        }

        @Override
        public int available() throws IOException {
            return channel.availableBytes();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private final class Out extends OutputStream {
        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
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
        public void close() throws IOException {
            channel.close();
        }
    }

    // ---- options

    private <T> void set(SocketOption<T> option, T value) throws SocketException {
        requireOpen();
        try {
            channel.setOption(option, value);
        } catch (IOException refused) {
            throw failed(refused);
        }
    }

    private <T> T get(SocketOption<T> option) throws SocketException {
        requireOpen();
        try {
            return channel.getOption(option);
        } catch (IOException refused) {
            throw failed(refused);
        }
    }

    static SocketException failed(IOException cause) {
        if (cause instanceof SocketException already) {
            return already;
        }
        SocketException failure = new SocketException(String.valueOf(cause.getMessage()));
        failure.initCause(cause);
        return failure;
    }

    static int requirePositive(int size) {
        if (size <= 0) {
            throw new IllegalArgumentException("Invalid size " + size);
        }
        return size;
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        set(StandardSocketOptions.TCP_NODELAY, on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return get(StandardSocketOptions.TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        set(StandardSocketOptions.SO_LINGER, on ? Math.clamp(seconds, -1, 65_535) : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return get(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void sendUrgentData(int value) throws IOException {
        requireBlocking();
        throw new SocketException("Urgent data not supported");
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        requireOpen();
        urgentInline = on; // urgent data never arrives
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        requireOpen();
        return urgentInline;
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        requireOpen();
        if (millis < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMillis = millis;
    }

    @Override
    public int getSoTimeout() throws SocketException {
        requireOpen();
        return timeoutMillis;
    }

    @Override
    public void setSendBufferSize(int size) throws SocketException {
        set(StandardSocketOptions.SO_SNDBUF, requirePositive(size));
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_SNDBUF);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        set(StandardSocketOptions.SO_RCVBUF, requirePositive(size));
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_KEEPALIVE, on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return get(StandardSocketOptions.SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int value) throws SocketException {
        set(StandardSocketOptions.IP_TOS, value);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return get(StandardSocketOptions.IP_TOS);
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // There is nothing to choose.
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
