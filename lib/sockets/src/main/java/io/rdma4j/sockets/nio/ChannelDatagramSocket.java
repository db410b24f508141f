package io.rdma4j.sockets.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A view of a channel as a datagram socket; the channel holds all state. The socket sends and receives only while the
 * channel is blocking.
 */
final class ChannelDatagramSocket extends DatagramSocket {
    /** The packet that was filled last, and its capacity, which its length no longer reports. */
    private record Filled(
            WeakReference<DatagramPacket> packet, WeakReference<byte[]> data, int offset, int length, int capacity) {}

    private final RdmaDatagramChannel channel;
    private final AdaptorOptions options;
    private volatile @Nullable Filled filled;

    private ChannelDatagramSocket(RdmaDatagramChannel channel) throws SocketException {
        super((SocketAddress) null);
        super.close(); // the UDP socket that every DatagramSocket opens; this class does not use it
        this.channel = channel;
        options = new AdaptorOptions(channel);
    }

    static ChannelDatagramSocket of(RdmaDatagramChannel channel) {
        try {
            return new ChannelDatagramSocket(channel);
        } catch (SocketException failed) {
            throw new UncheckedIOException("java.net cannot create a datagram socket", failed);
        }
    }

    private void requireBlocking() {
        if (!channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    private static SocketException socketClosed(ClosedChannelException closed) {
        SocketException failure = new SocketException("Socket closed");
        failure.initCause(closed);
        return failure;
    }

    // ---- addresses

    @Override
    public void bind(@Nullable SocketAddress local) throws SocketException {
        if (local != null && !(local instanceof InetSocketAddress)) {
            throw new IllegalArgumentException("Unsupported address type: " + local);
        }
        options.requireOpen();
        try {
            channel.bind(local);
        } catch (AlreadyBoundException bound) {
            throw new SocketException("Already bound", bound);
        } catch (UnresolvedAddressException unresolved) {
            throw new SocketException("Unresolved address: " + local, unresolved);
        } catch (UnsupportedAddressTypeException other) {
            throw new SocketException("An IPv4 socket cannot be bound to " + local, other);
        } catch (IOException refused) {
            throw AdaptorOptions.socketException(refused);
        }
    }

    @Override
    public void connect(@Nullable InetAddress address, int port) {
        if (address == null) {
            throw new IllegalArgumentException("Address can't be null");
        }
        try {
            connect(new InetSocketAddress(address, port));
        } catch (SocketException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void connect(SocketAddress remote) throws SocketException {
        if (!(remote instanceof InetSocketAddress)) {
            throw new IllegalArgumentException("Unsupported address type: " + remote);
        }
        try {
            channel.connect(remote, true);
        } catch (UnresolvedAddressException unresolved) {
            throw new SocketException("Unresolved address: " + remote, unresolved);
        } catch (UnsupportedAddressTypeException other) {
            throw new SocketException("An IPv4 socket cannot connect to " + remote, other);
        } catch (ClosedChannelException closed) {
            return; // DatagramSocket specifies that connecting a closed socket has no effect
        } catch (IOException refused) {
            throw AdaptorOptions.socketException(refused);
        }
    }

    @Override
    public void disconnect() {
        try {
            channel.disconnect();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public boolean isBound() {
        return channel.localOrLast() != null;
    }

    @Override
    public boolean isConnected() {
        return channel.remoteOrLast() != null;
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress remote = channel.remoteOrLast();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = channel.remoteOrLast();
        return remote == null ? -1 : remote.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return channel.remoteOrLast();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return isClosed() ? null : channel.localOrLast();
    }

    @Override
    public @Nullable InetAddress getLocalAddress() {
        if (isClosed()) {
            return null;
        }
        InetSocketAddress local = channel.localOrLast();
        return local == null ? new InetSocketAddress(0).getAddress() : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        if (isClosed()) {
            return -1;
        }
        InetSocketAddress local = channel.localOrLast();
        return local == null ? 0 : local.getPort();
    }

    @Override
    public DatagramChannel getChannel() {
        return channel;
    }

    // ---- data

    @Override
    public void send(DatagramPacket packet) throws IOException {
        requireBlocking();
        try {
            synchronized (packet) {
                channel.send(ByteBuffer.wrap(packet.getData(), packet.getOffset(), packet.getLength()), target(packet));
            }
        } catch (AlreadyConnectedException connected) {
            throw new IllegalArgumentException("Connected and packet address differ", connected);
        } catch (ClosedChannelException closed) {
            throw socketClosed(closed);
        }
    }

    /** Returns the destination of a packet; a packet without an address gets the peer's address. */
    private SocketAddress target(DatagramPacket packet) throws SocketException {
        if (packet.getAddress() == null) {
            options.requireOpen();
            InetSocketAddress remote = channel.remoteOrLast();
            if (remote == null) {
                throw new IllegalArgumentException("Address not set");
            }
            packet.setSocketAddress(remote);
        }
        return packet.getSocketAddress();
    }

    @Override
    public void receive(DatagramPacket packet) throws IOException {
        requireBlocking();
        try {
            synchronized (packet) {
                int offset = packet.getOffset();
                int capacity = capacity(packet);
                ByteBuffer target = ByteBuffer.wrap(packet.getData(), offset, capacity);
                InetSocketAddress from = channel.receive(target, options.timeoutMillis());
                if (from == null) {
                    throw new IllegalBlockingModeException();
                }
                packet.setLength(target.position() - offset);
                packet.setSocketAddress(from);
                filled = new Filled(
                        new WeakReference<>(packet),
                        new WeakReference<>(packet.getData()),
                        offset,
                        packet.getLength(),
                        capacity);
            }
        } catch (ClosedByInterruptException interrupted) {
            throw interrupted;
        } catch (ClosedChannelException closed) {
            throw socketClosed(closed);
        }
    }

    /**
     * Returns the capacity of a packet. The platform's sockets set the length of a packet but keep its capacity, which
     * is not possible outside of java.net. Programs may receive into the same packet repeatedly, so this socket
     * remembers the capacity that the packet had before it was filled.
     */
    private int capacity(DatagramPacket packet) {
        Filled last = filled;
        boolean isAsFilled = last != null
                && last.packet().refersTo(packet)
                && last.data().refersTo(packet.getData())
                && last.offset() == packet.getOffset()
                && last.length() == packet.getLength();
        return last != null && isAsFilled ? last.capacity() : packet.getLength();
    }

    // ---- options

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
    public void setReuseAddress(boolean on) throws SocketException {
        options.set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return options.get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setBroadcast(boolean on) throws SocketException {
        options.requireOpen();
        if (on) {
            throw new SocketException("Protocol not available (datagram RDMA sockets do not support broadcast)");
        }
    }

    @Override
    public boolean getBroadcast() throws SocketException {
        options.requireOpen();
        return false;
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
    public <T> DatagramSocket setOption(SocketOption<T> name, T value) throws IOException {
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

    // ---- multicast

    @Override
    public void joinGroup(SocketAddress group, @Nullable NetworkInterface through) throws IOException {
        throw noGroups(group);
    }

    @Override
    public void leaveGroup(SocketAddress group, @Nullable NetworkInterface through) throws IOException {
        throw noGroups(group);
    }

    private SocketException noGroups(SocketAddress group) throws SocketException {
        if (!(group instanceof InetSocketAddress address) || address.isUnresolved()) {
            throw new IllegalArgumentException("Unresolved, or of an unsupported type: " + group);
        }
        options.requireOpen();
        return new SocketException(
                "Cannot join or leave " + group + ": datagram RDMA sockets do not support multicast");
    }

    // ---- end

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public String toString() {
        return "DatagramSocket[" + channel + "]";
    }
}
