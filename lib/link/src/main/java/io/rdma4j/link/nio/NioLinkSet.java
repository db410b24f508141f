package io.rdma4j.link.nio;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.host.Interfaces;
import io.rdma4j.link.internal.BindErrors;
import io.rdma4j.link.internal.FramedChannel;
import io.rdma4j.link.internal.Groups;
import io.rdma4j.link.internal.SocketFile;
import io.rdma4j.link.internal.WakeupGate;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A link set on NIO datagram channels and one selector. It works wherever Java does, without native access. */
public final class NioLinkSet implements LinkSet {
    /** Requested buffer size of each socket; the system may limit it. */
    static final int SOCKET_BUFFER_BYTES = 4 << 20;

    private static final int BACKLOG = 128;

    /**
     * A file owned by the user of this process, if the system has it. Otherwise the owner of the socket's directory is
     * used.
     */
    private static final Path PROCESS_DIRECTORY = Path.of("/proc/self");

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** The time after which a listener is tried again if this process had no descriptors for its connections. */
    private static final long SUSPENSION_NANOS = 100_000_000;

    private final SelectorProvider provider;
    private final Selector selector;
    private final WakeupGate gate = new WakeupGate();
    private final NioReserve reserve;

    /** Held while a wait uses the gate, so that no other select consumes its wakeup. */
    private final ReentrantLock selecting = new ReentrantLock();

    /**
     * Creates an empty set.
     *
     * @throws IOException if the system cannot create a selector
     */
    public NioLinkSet() throws IOException {
        provider = platformProvider();
        selector = provider.openSelector();
        reserve = new NioReserve(provider);
    }

    /**
     * Returns the provider of the channels that the JVM's provider opens for datagrams. The JVM's provider may belong to RDMA
     * sockets, which use this link: its selector would wait for the link's channels through the sockets above it.
     */
    private static SelectorProvider platformProvider() throws IOException {
        SelectorProvider ofJvm = SelectorProvider.provider();
        if (ofJvm.getClass().getModule() == Object.class.getModule()) {
            return ofJvm;
        }
        try (DatagramChannel opened = ofJvm.openDatagramChannel()) {
            return opened.provider();
        }
    }

    @Override
    public String name() {
        return "nio";
    }

    @Override
    public Link openUdp(InetAddress address, int port) throws IOException {
        boolean ipv4 = address instanceof Inet4Address;
        // Only a socket of the address's own family sends IPv4 frames with identification 0 on every system.
        DatagramChannel channel =
                provider.openDatagramChannel(ipv4 ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
        try {
            channel.configureBlocking(false);
            forbidFragments(channel, ipv4);
            prefer(channel, StandardSocketOptions.SO_RCVBUF, SOCKET_BUFFER_BYTES);
            prefer(channel, StandardSocketOptions.SO_SNDBUF, SOCKET_BUFFER_BYTES);
            bind(channel, address, port);
            sendGroupsFrom(channel, address);
            register(channel, SelectionKey.OP_READ);
            return new NioLink(this, channel, null, Interfaces.mtuBytes(address));
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static void bind(DatagramChannel channel, InetAddress address, int port) throws IOException {
        try {
            channel.bind(new InetSocketAddress(address, port));
        } catch (BindException e) {
            throw BindErrors.of(address, port, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Selects the interface of {@code address} for frames to multicast groups, with the hop limit of rdma_rxe. The
     * frames are also delivered on this host.
     */
    private static void sendGroupsFrom(DatagramChannel channel, InetAddress address) throws IOException {
        NetworkInterface network = Interfaces.find(address);
        if (network != null) {
            prefer(channel, StandardSocketOptions.IP_MULTICAST_IF, network);
        }
        prefer(channel, StandardSocketOptions.IP_MULTICAST_TTL, Groups.HOPS);
        prefer(channel, StandardSocketOptions.IP_MULTICAST_LOOP, true);
    }

    @Override
    public Link openMulticast(InetAddress group, int port, InetAddress local) throws IOException {
        Groups.requireGroup(group, local);
        NetworkInterface network = Interfaces.of(local);
        boolean ipv4 = group instanceof Inet4Address;
        DatagramChannel channel =
                provider.openDatagramChannel(ipv4 ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
        try {
            channel.configureBlocking(false);
            prefer(channel, StandardSocketOptions.SO_RCVBUF, SOCKET_BUFFER_BYTES);
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            bind(channel, Groups.scoped(group, network), port);
            MembershipKey membership = channel.join(group, network);
            register(channel, SelectionKey.OP_READ);
            return new NioLink(this, channel, membership, Interfaces.mtuBytes(local));
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static void forbidFragments(DatagramChannel channel, boolean ipv4) throws IOException {
        if (!ExtendedOptions.forbidFragments(channel) && ipv4) {
            throw new IOException("open a UDP link: this Java cannot set IP_DONTFRAGMENT here, without which IPv4"
                    + " packets carry an identification that the ICRC cannot foresee; start Java with --add-modules"
                    + " jdk.net, or use an IPv6 address");
        }
    }

    /** Sets an option that improves the link, but is not required. */
    static <T> void prefer(NetworkChannel channel, SocketOption<T> option, T value) {
        try {
            channel.setOption(option, value);
        } catch (IOException | UnsupportedOperationException e) {
            // The system's default remains.
            return;
        }
    }

    @Override
    public LocalListener listenLocal(Path socket) throws IOException {
        SocketFile.prepare(socket);
        ServerSocketChannel server = provider.openServerSocketChannel(StandardProtocolFamily.UNIX);
        try {
            try {
                server.bind(UnixDomainSocketAddress.of(socket), BACKLOG);
            } catch (IOException e) {
                throw (IOException) new BindException("listen on " + socket + ": " + e.getMessage()).initCause(e);
            }
            SocketFile file = SocketFile.bound(socket);
            server.configureBlocking(false);
            SelectionKey key = register(server, SelectionKey.OP_ACCEPT);
            NioListener listener = new NioListener(server, file, socket, key);
            key.attach(listener);
            reserve.fill();
            return listener;
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    @Override
    public LocalChannel connectLocal(Path socket) throws IOException {
        SocketChannel channel = provider.openSocketChannel(StandardProtocolFamily.UNIX);
        try {
            channel.configureBlocking(false);
            if (!channel.connect(UnixDomainSocketAddress.of(socket))) {
                throw new ConnectException("the listener's queue is full");
            }
            if (!isOfSameUser(channel, socket)) {
                throw new ConnectException("a process of another user listens there");
            }
            return adopt(channel);
        } catch (IOException e) {
            channel.close();
            throw (IOException) new ConnectException("connect to " + socket + ": " + e.getMessage()).initCause(e);
        }
    }

    /**
     * Returns whether the process at the other end runs as the same user as this one. If the system does not report the
     * peer's user, access is controlled by the directory's permissions alone.
     */
    private static boolean isOfSameUser(SocketChannel channel, Path socket) throws IOException {
        Path owned = Files.exists(PROCESS_DIRECTORY)
                ? PROCESS_DIRECTORY
                : socket.toAbsolutePath().getParent();
        UserPrincipal peer = owned == null ? null : ExtendedOptions.userOfPeer(channel);
        return peer == null || peer.equals(Files.getOwner(owned));
    }

    private LocalChannel adopt(SocketChannel channel) throws IOException {
        prefer(channel, StandardSocketOptions.SO_SNDBUF, SOCKET_BUFFER_BYTES);
        prefer(channel, StandardSocketOptions.SO_RCVBUF, SOCKET_BUFFER_BYTES);
        return new FramedChannel(new NioStream(this, channel, register(channel, SelectionKey.OP_READ)));
    }

    private SelectionKey register(SelectableChannel channel, int interest) throws IOException {
        SelectionKey key = channel.register(selector, interest);
        // A thread that is already waiting must wait for this channel too.
        wakeup();
        return key;
    }

    @Override
    public boolean await(long timeoutNanos) {
        // A selector does not block a thread whose interrupt status is set, so the caller would spin.
        boolean interrupted = Thread.interrupted();
        selecting.lock();
        boolean retries = reserve.hasSuspended();
        long maximumNanos = retries ? Math.min(timeoutNanos, SUSPENSION_NANOS) : timeoutNanos;
        try {
            if (!gate.beginWait() || maximumNanos <= 0) {
                selector.selectNow(NioLinkSet::ignore);
            } else if (maximumNanos == Long.MAX_VALUE) {
                selector.select(NioLinkSet::ignore);
            } else {
                // Rounded up: a late timer is better than spinning until an early wait expires.
                selector.select(NioLinkSet::ignore, (maximumNanos - 1) / NANOS_PER_MILLI + 1);
            }
            if (retries) {
                reserve.resume();
            }
        } catch (IOException e) {
            throw new IllegalStateException("wait for links: " + e.getMessage(), e);
        } finally {
            gate.endWait();
            selecting.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return true;
    }

    /** Ignores readiness: the waiting thread polls all its links, and unread input makes them ready again. */
    private static void ignore(SelectionKey key) {}

    @Override
    public void wakeup() {
        if (gate.signal()) {
            selector.wakeup();
        }
    }

    /**
     * Releases closed channels: their sockets stay open and bound until the selector runs again. A waiting thread does this;
     * otherwise it is done here. Like {@link #wakeup}, this ends the current or the next wait, so that the waiting thread sees
     * closed channels.
     */
    void release() {
        boolean _ = gate.signal();
        if (!selecting.tryLock()) {
            selector.wakeup();
            return;
        }
        try {
            if (selector.isOpen()) {
                selector.selectNow(NioLinkSet::ignore);
            }
        } catch (IOException e) {
            // The next wait releases them.
            return;
        } finally {
            selecting.unlock();
        }
    }

    @Override
    public void close() {
        if (!selector.isOpen()) {
            return;
        }
        for (SelectionKey key : List.copyOf(selector.keys())) {
            if (key.attachment() instanceof NioListener listener) {
                listener.close();
            }
            closeQuietly(key.channel());
        }
        reserve.close();
        closeQuietly(selector);
    }

    static void closeQuietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            // Nothing is buffered in user space, so a failed close loses no data.
            return;
        }
    }

    /** A listening Unix-domain socket. */
    private final class NioListener implements LocalListener {
        private final ServerSocketChannel server;
        private final SocketFile file;
        private final Path path;
        private final SelectionKey key;
        private @Nullable ByteBuffer refusal;

        NioListener(ServerSocketChannel server, SocketFile file, Path path, SelectionKey key) {
            this.server = server;
            this.file = file;
            this.path = path;
            this.key = key;
        }

        @Override
        public void refuseWith(ByteBuffer message) {
            refusal = FramedChannel.framed(message);
        }

        @Override
        public @Nullable LocalChannel accept() {
            try {
                SocketChannel channel = server.accept();
                while (channel != null && !isOfSameUser(channel, path)) {
                    // The file's permissions exclude other users; this check applies if the permissions were changed.
                    channel.close();
                    channel = server.accept();
                }
                if (channel == null) {
                    return null;
                }
                channel.configureBlocking(false);
                return adopt(channel);
            } catch (ClosedChannelException closed) {
                return null;
            } catch (IOException lacksDescriptors) {
                // Or the peer has closed the connection again: then there is no connection to refuse.
                reserve.refuse(server, key, refusal);
                return null;
            }
        }

        @Override
        public void close() {
            if (server.isOpen()) {
                file.remove();
                closeQuietly(server);
                release();
            }
        }
    }
}
