package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.QueuePairRanges;
import io.rdma4j.link.RingListener;
import io.rdma4j.link.SendRing;
import io.rdma4j.link.host.Interfaces;
import io.rdma4j.link.internal.BindErrors;
import io.rdma4j.link.internal.FramedChannel;
import io.rdma4j.link.internal.Groups;
import io.rdma4j.link.internal.SocketFile;
import io.rdma4j.link.internal.WakeupGate;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A link set that uses Linux system calls directly. One {@code ppoll} waits for all sockets and for an event
 * descriptor, which {@link #wakeup} signals if a thread is waiting.
 */
public final class LinuxLinkSet implements LinkSet {
    private static final int BACKLOG = 128;

    /** The time after which a listener is tried again if this process had no descriptors for its connections. */
    private static final long SUSPENSION_NANOS = 100_000_000;

    private final WakeupGate gate = new WakeupGate();
    private final int event;
    private final MemorySegment one = Arena.ofAuto().allocateFrom(JAVA_LONG, 1L);

    /** Guards changes of {@link #sockets} and the closing of {@link #event}. */
    private final Object lock = new Object();

    /** Copy on write. */
    private volatile Socket[] sockets = {};

    /** Copy on write. */
    private volatile LinuxReceiveRing[] rings = {};

    private final DescriptorReserve reserve = new DescriptorReserve();
    private volatile boolean closed;

    /** Used by the waiting thread only. */
    private final MemorySegment awaitErrno = Posix.newErrno();

    private final MemorySegment drained = Arena.ofAuto().allocate(JAVA_LONG);
    private final PollDescriptors descriptors = new PollDescriptors(16);

    /**
     * Creates an empty set.
     *
     * @throws IOException if the system cannot create an event descriptor
     */
    public LinuxLinkSet() throws IOException {
        event = Posix.eventfd(awaitErrno);
        if (event < 0) {
            throw new IOException("eventfd: " + LinuxErrno.describe(-event));
        }
    }

    @Override
    public String name() {
        return "linux";
    }

    @Override
    public Link openUdp(InetAddress address, int port) throws IOException {
        NetworkInterface network = Interfaces.find(address);
        Socket socket = openUdpSocket(address, network, Socket::enlargeBuffers);
        try {
            int bound = bind(socket, address, port);
            // A port with a known number may be taken over while this process is stopped. The option is set after the
            // bind, which is thereby exclusive.
            boolean allowsOthers = port != 0 && socket.option(Posix.SOL_SOCKET, Posix.SO_REUSEPORT, 1);
            PortGroup shared = new PortGroup(socket, new InetSocketAddress(address, bound), allowsOthers);
            return unicastLink(socket, shared, network);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public boolean opensBeside() {
        return true;
    }

    @Override
    public Link openBeside(InetAddress address, int port) throws IOException {
        NetworkInterface network = Interfaces.find(address);
        Socket socket = openUdpSocket(address, network, Socket::enlargeBuffers);
        try {
            socket.require(Posix.SOL_SOCKET, Posix.SO_REUSEPORT, 1, "SO_REUSEPORT");
            InetSocketAddress local = new InetSocketAddress(address, bind(socket, address, port));
            LinuxLink link = new LinuxLink(
                    socket,
                    local,
                    source -> openFlow(address, source, network),
                    null,
                    null,
                    Interfaces.mtuBytes(network));
            if (!link.takeOver(new PortTakeover(socket, local))) {
                throw new BindException("the system does not deliver the input of UDP port " + port
                        + " to one of the sockets that share it");
            }
            add(socket);
            return link;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public @Nullable Link openSteered(Link first, int fromNumber, int toNumber) throws IOException {
        QueuePairRanges.require(fromNumber, toNumber);
        PortGroup shared = first instanceof LinuxLink link ? link.portGroup() : null;
        if (shared == null) {
            return null;
        }
        NetworkInterface network = Interfaces.find(shared.local.getAddress());
        Socket socket = openUdpSocket(shared.local.getAddress(), network, Socket::enlargeBuffers);
        try {
            if (shared.join(socket, fromNumber, toNumber)) {
                return unicastLink(socket, shared, network);
            }
            socket.close();
            return null;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** Opens a socket with all options that a unicast socket needs before it is bound. */
    private Socket openUdpSocket(InetAddress address, @Nullable NetworkInterface network, Consumer<Socket> buffers)
            throws IOException {
        boolean ipv4 = address instanceof Inet4Address;
        Socket socket = Socket.open(this, ipv4 ? Posix.AF_INET : Posix.AF_INET6, Posix.SOCK_DGRAM);
        try {
            if (ipv4) {
                // Only an unconnected socket that does not fragment sends identification 0, as the ICRC assumes.
                socket.require(Posix.IPPROTO_IP, Posix.IP_MTU_DISCOVER, Posix.PMTUDISC_DO, "IP_MTU_DISCOVER");
            } else {
                prepareIpv6(socket);
                socket.require(Posix.IPPROTO_IPV6, Posix.IPV6_MTU_DISCOVER, Posix.PMTUDISC_DO, "IPV6_MTU_DISCOVER");
                socket.require(Posix.IPPROTO_IPV6, Posix.IPV6_DONTFRAG, 1, "IPV6_DONTFRAG");
            }
            buffers.accept(socket);
            if (network != null) {
                Multicast.sendFrom(socket, network, ipv4);
            }
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private Link unicastLink(Socket socket, PortGroup shared, @Nullable NetworkInterface network)
            throws SocketException {
        InetAddress address = shared.local.getAddress();
        int mtuBytes = Interfaces.mtuBytes(network);
        Link link =
                new LinuxLink(socket, shared.local, port -> openFlow(address, port, network), shared, null, mtuBytes);
        add(socket);
        return link;
    }

    /** Opens a socket that only sends. The set does not wait for it. */
    private SendSocket openFlow(InetAddress address, int port, @Nullable NetworkInterface network) throws IOException {
        Socket socket = openUdpSocket(address, network, Socket::prepareToSendOnly);
        try {
            int _ = bind(socket, address, port);
            return new SendSocket(socket, address instanceof Inet4Address);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static void prepareIpv6(Socket socket) throws IOException {
        socket.require(Posix.IPPROTO_IPV6, Posix.IPV6_V6ONLY, 1, "IPV6_V6ONLY");
        // Linux's kernel device sends no checksum on IPv6.
        socket.require(Posix.SOL_UDP, Posix.UDP_NO_CHECK6_RX, 1, "UDP_NO_CHECK6_RX");
    }

    @Override
    public Link openMulticast(InetAddress group, int port, InetAddress local) throws IOException {
        Groups.requireGroup(group, local);
        NetworkInterface network = Interfaces.of(local);
        boolean ipv4 = group instanceof Inet4Address;
        Socket socket = Socket.open(this, ipv4 ? Posix.AF_INET : Posix.AF_INET6, Posix.SOCK_DGRAM);
        try {
            if (!ipv4) {
                prepareIpv6(socket);
            }
            socket.require(Posix.SOL_SOCKET, Posix.SO_REUSEADDR, 1, "SO_REUSEADDR");
            socket.enlargeBuffers();
            InetAddress name = Groups.scoped(group, network);
            int bound = bind(socket, name, port);
            Runnable leave = Multicast.join(socket, group, network);
            Link link = new LinuxLink(
                    socket, new InetSocketAddress(name, bound), null, null, leave, Interfaces.mtuBytes(local));
            add(socket);
            return link;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** Binds a socket and returns its port. */
    private static int bind(Socket socket, InetAddress address, int port) throws IOException {
        MemorySegment name = Arena.ofAuto().allocate(SocketAddresses.IPV6_BYTES, 8);
        int result = socket.bind(name, address, port);
        if (result < 0) {
            throw BindErrors.of(address, port, LinuxErrno.describe(-result));
        }
        MemorySegment length = Arena.ofAuto().allocateFrom(JAVA_INT, SocketAddresses.IPV6_BYTES);
        result = Posix.getsockname(socket.errno, socket.fd, name, length);
        if (result < 0) {
            throw new IOException("getsockname: " + LinuxErrno.describe(-result));
        }
        return SocketAddresses.port(name, 0);
    }

    @Override
    public LocalListener listenLocal(Path path) throws IOException {
        return listen(path, Listener::new);
    }

    @Override
    public RingListener listenForRings(Path path, boolean copiesAll) throws IOException {
        SharedMemory.requireAvailable();
        return listen(path, (socket, file) -> new LinuxRingListener(this, socket, file, copiesAll));
    }

    private <L extends AutoCloseable> L listen(Path path, BiFunction<Socket, SocketFile, L> creator)
            throws IOException {
        SocketFile.prepare(path);
        MemorySegment name = SocketAddresses.unix(path);
        Socket socket = Socket.open(this, Posix.AF_UNIX, Posix.SOCK_STREAM);
        try {
            int result = Posix.bind(socket.errno, socket.fd, name, (int) name.byteSize());
            if (result == 0) {
                result = Posix.listen(socket.errno, socket.fd, BACKLOG);
            }
            if (result < 0) {
                throw new BindException("listen on " + path + ": " + LinuxErrno.describe(-result));
            }
            SocketFile file = SocketFile.bound(path);
            socket.onSetClose(file::remove);
            L listener = creator.apply(socket, file);
            add(socket);
            reserve.fill();
            return listener;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public LocalChannel connectLocal(Path path) throws IOException {
        return adopt(connect(path, Socket.open(this, Posix.AF_UNIX, Posix.SOCK_STREAM)));
    }

    @Override
    public SendRing connectRing(Path path, long sourceHigh, long sourceLow) throws IOException {
        SharedMemory.requireAvailable();
        Socket socket = connect(path, Socket.open(this, Posix.AF_UNIX, Posix.SOCK_STREAM));
        try {
            LinuxSendRing ring = LinuxSendRing.handOver(socket, sourceHigh, sourceLow);
            add(socket);
            return ring;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static Socket connect(Path path, Socket socket) throws IOException {
        try {
            MemorySegment name = SocketAddresses.unix(path);
            int result = Posix.connect(socket.errno, socket.fd, name, (int) name.byteSize());
            if (result < 0) {
                throw new ConnectException("connect to " + path + ": " + LinuxErrno.describe(-result));
            }
            if (!socket.isOfSameUser()) {
                throw new ConnectException("connect to " + path + ": a process of another user listens there");
            }
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** Adds a ring to wait for. */
    void add(LinuxReceiveRing ring) {
        synchronized (lock) {
            LinuxReceiveRing[] longer = Arrays.copyOf(rings, rings.length + 1);
            longer[rings.length] = ring;
            rings = longer;
        }
        wakeup();
    }

    /** Stops waiting for a ring, and then closes its memory, which the waiting thread no longer uses. */
    void remove(LinuxReceiveRing ring, SharedMemory memory) {
        synchronized (lock) {
            rings = Arrays.stream(rings).filter(r -> r != ring).toArray(LinuxReceiveRing[]::new);
            memory.close();
        }
    }

    /** Makes the writers of all rings wake this process, or stop doing so. Returns false if frames are pending in a ring. */
    private boolean announceWait(boolean begins) {
        if (rings.length == 0) {
            return true;
        }
        boolean isEmpty = true;
        synchronized (lock) {
            for (LinuxReceiveRing ring : rings) {
                isEmpty &= ring.announceWait(begins);
            }
        }
        return isEmpty;
    }

    private LocalChannel adopt(Socket socket) {
        try {
            socket.enlargeBuffers();
            FramedChannel channel = new FramedChannel(new LinuxStream(socket));
            add(socket); // last: a socket without a channel, for which there was no memory, would end every wait
            return channel;
        } catch (RuntimeException | Error failed) {
            socket.close();
            throw failed;
        }
    }

    /** Adds a socket to wait for. */
    void add(Socket socket) {
        synchronized (lock) {
            if (closed) {
                throw new IllegalStateException("the link set is closed");
            }
            Socket[] longer = Arrays.copyOf(sockets, sockets.length + 1);
            longer[sockets.length] = socket;
            sockets = longer;
        }
        // A thread that is already waiting must wait for this socket too.
        wakeup();
    }

    void remove(Socket socket) {
        synchronized (lock) {
            sockets =
                    Arrays.stream(sockets).filter(s -> s != socket && !s.closed).toArray(Socket[]::new);
        }
        wakeup();
    }

    @Override
    public boolean await(long timeoutNanos) {
        if (closed) {
            throw new IllegalStateException("the link set is closed");
        }
        boolean mayBlock = gate.beginWait() && timeoutNanos > 0;
        boolean isLocalReady = true;
        if (mayBlock) {
            isLocalReady = announceWait(true) && poll(timeoutNanos);
            announceWait(false);
        }
        gate.endWait();
        return isLocalReady;
    }

    /** Blocks, and returns whether a socket of a local channel or listener is ready. */
    private boolean poll(long timeoutNanos) {
        Socket[] all = sockets;
        descriptors.reserve(all.length + 1);
        descriptors.set(0, event, Posix.POLLIN);
        for (int i = 0; i < all.length; i++) {
            short events = all[i].events;
            descriptors.set(i + 1, events == Socket.NO_EVENTS ? PollDescriptors.NONE : all[i].fd, events);
        }
        boolean retries = reserve.hasSuspended();
        if (!descriptors.await(all.length + 1, retries ? Math.min(timeoutNanos, SUSPENSION_NANOS) : timeoutNanos)) {
            return retries && resume(all);
        }
        if (descriptors.isReady(0)) {
            Posix.drainEvent(event, drained);
        }
        boolean isLocalReady = false;
        for (int i = 0; i < all.length; i++) {
            if (descriptors.isReady(i + 1)) {
                isLocalReady |= all[i].isLocal();
                all[i].ready();
            }
        }
        return isLocalReady;
    }

    /**
     * Accepts a connection as a non-blocking descriptor; see {@link DescriptorReserve#accept}. While this process lacks
     * descriptors, the set tries the listener occasionally instead of waiting for it.
     */
    int accept(Socket listening, @Nullable ByteBuffer refusal) {
        return reserve.accept(listening, refusal);
    }

    /** Waits for all listeners again. Returns true: they may have input. */
    private boolean resume(Socket[] all) {
        reserve.resume();
        for (Socket each : all) {
            each.resume();
        }
        return true;
    }

    @Override
    public void wakeup() {
        if (!gate.signal()) {
            return;
        }
        try {
            synchronized (lock) {
                if (!closed) {
                    Posix.raiseEvent(event, one);
                }
            }
        } catch (OutOfMemoryError e) {
            // Java allocates for the first hundred calls of a native function. The caller has done its work, and must
            // not fail
            // because of this.
            gate.onFailure();
        }
    }

    @Override
    public void close() {
        Socket[] all;
        synchronized (lock) {
            if (closed) {
                return;
            }
            // The waiting thread is woken before the descriptor number can be reused for another file.
            Posix.raiseEvent(event, one);
            closed = true;
            all = sockets;
        }
        for (LinuxReceiveRing ring : rings) {
            ring.close();
        }
        for (Socket socket : all) {
            socket.setClosing();
        }
        reserve.close();
        Posix.close(event);
    }

    /** A listening Unix-domain socket. */
    private final class Listener implements LocalListener {
        private final Socket socket;
        private final SocketFile file;
        private @Nullable ByteBuffer refusal;

        Listener(Socket socket, SocketFile file) {
            this.socket = socket;
            this.file = file;
        }

        @Override
        public @Nullable LocalChannel accept() {
            if (socket.closed) {
                return null;
            }
            while (true) {
                int fd = LinuxLinkSet.this.accept(socket, refusal);
                if (fd < 0) {
                    return null; // no connection pending, or the peer has closed it again
                }
                Socket accepted = Socket.accepted(LinuxLinkSet.this, fd);
                if (accepted.isOfSameUser()) {
                    return adopt(accepted);
                }
                // The file's permissions exclude other users; this check applies if the permissions were changed.
                accepted.close();
            }
        }

        @Override
        public void refuseWith(ByteBuffer message) {
            refusal = FramedChannel.framed(message);
        }

        @Override
        public void close() {
            if (!socket.closed) {
                file.remove();
                socket.close();
            }
        }
    }
}
