package io.rdma4j.sockets.io;

import io.rdma4j.sockets.datagram.DatagramAddress;
import io.rdma4j.sockets.datagram.DatagramNetwork;
import io.rdma4j.sockets.datagram.DatagramPath;
import io.rdma4j.sockets.datagram.DatagramProtocol;
import io.rdma4j.sockets.datagram.DatagramSizes;
import io.rdma4j.sockets.datagram.Drop;
import io.rdma4j.sockets.datagram.LocalEnd;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.WaitDriver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A datagram socket without its Java API. A UDP socket (the companion) exchanges the queue pairs of peers. All other
 * traffic uses a queue pair for each local address. Only {@link #await} and, briefly, {@link #close} block. Thread
 * safe.
 */
public final class DatagramEndpoint extends SocketEndpoint implements CompanionService.Target {
    /** Maximum number of attempts to find a port that is free for UDP and for RDMA. */
    private static final int PORT_ATTEMPTS = 16;

    /** A buffer size that fits every datagram. */
    public static final int MAX_BYTES = DatagramSizes.SLOT_BYTES;

    private static final int COMPANION_BYTES = 4096;

    /** Messages read at a time. */
    private static final int COMPANION_BATCH = 64;

    private static final long LINGER_NANOS = 1_000_000_000L;
    private static final long LINGER_POLL_NANOS = 20_000;

    private final DatagramEnds ends;
    private final ByteBuffer incoming = ByteBuffer.allocateDirect(COMPANION_BYTES);
    private final CompanionService.Source companionSource;
    private volatile DatagramSettings settings;
    private volatile boolean closed;

    /** Set by the service. A thread that polls the endpoint continuously then reads instead of the service. */
    private volatile boolean companionReadable;

    private @Nullable CompanionService companions;
    private @Nullable DatagramChannel companion;
    private @Nullable DatagramProtocol protocol;
    private @Nullable InetSocketAddress connected;

    /** The reason why an earlier datagram did not arrive; reported once. */
    private @Nullable IOException pendingFailure;

    /** The reason why the endpoint can only be closed, or null. */
    private @Nullable String broken;

    /** The reason why the UDP socket did not accept the current message. */
    private @Nullable IOException sendFailure;

    private DatagramAddress lastSource = new DatagramAddress(0, 0, 0, 0);
    private InetSocketAddress lastSocketAddress = new InetSocketAddress(0);

    /** Creates an endpoint that is neither bound nor connected. */
    public DatagramEndpoint(ConnectionService service, DatagramSettings settings) {
        this(service, settings, CompanionService::instance);
    }

    /** Creates an endpoint. The given service reads its UDP socket. */
    DatagramEndpoint(ConnectionService service, DatagramSettings settings, CompanionService.Source companionSource) {
        this.settings = settings;
        this.companionSource = companionSource;
        ends = new DatagramEnds(service, changed);
    }

    // ---- settings and addresses

    /** Returns the settings. */
    public DatagramSettings settings() {
        return settings;
    }

    /**
     * Changes the settings. Sizes and address reuse take effect when the endpoint is bound; the type of service applies
     * to new peers.
     */
    public void settings(DatagramSettings value) throws IOException {
        guarded(() -> {
            settings = value;
            DatagramChannel current = companion;
            if (current != null && !closed) {
                current.setOption(StandardSocketOptions.IP_TOS, value.typeOfService());
            }
            return null;
        });
    }

    /** Returns whether the endpoint has a port, and therefore fixed sizes. */
    public boolean isBound() {
        synchronized (lock) {
            return companion != null;
        }
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    /** Returns the local address and port, or null if there is none. */
    public @Nullable InetSocketAddress localAddress() {
        synchronized (lock) {
            try {
                DatagramChannel current = companion;
                return current == null || closed ? null : (InetSocketAddress) current.getLocalAddress();
            } catch (IOException failed) {
                return null;
            }
        }
    }

    /** Returns the address of the connected peer, or null. */
    public @Nullable InetSocketAddress peerAddress() {
        synchronized (lock) {
            return closed ? null : connected;
        }
    }

    /**
     * Binds the endpoint; port 0 selects any free port.
     *
     * @param local an address of this host, or a wildcard; null for the IPv4 wildcard and any port
     * @throws java.net.BindException if the address is not local, or the port is in use for UDP or for RDMA datagrams
     */
    public void bind(@Nullable InetSocketAddress local) throws IOException {
        guarded(() -> {
            requireOpen();
            if (companion != null) {
                throw new SocketException("Already bound");
            }
            open(local == null ? new InetSocketAddress(Inet4Address.ofLiteral("0.0.0.0"), 0) : local);
            return null;
        });
        changed.raise();
    }

    private void open(InetSocketAddress local) throws IOException {
        boolean isSpecific = !local.getAddress().isAnyLocalAddress();
        for (int attempt = 1; companion == null; attempt++) {
            DatagramChannel channel = CompanionService.open(local, settings);
            boolean done = false;
            try {
                if (isSpecific) {
                    addEnd(DatagramAddresses.of((InetSocketAddress) channel.getLocalAddress()));
                }
                begin(channel);
                done = true;
            } catch (RdmaException refused) {
                boolean isTaken = refused.errno() == Errno.EADDRINUSE || refused.errno() == Errno.EADDRNOTAVAIL;
                if (local.getPort() != 0 || !isTaken || attempt == PORT_ATTEMPTS) {
                    throw refused;
                }
            } finally {
                if (!done) {
                    try (channel) {
                        ends.close();
                    }
                }
            }
        }
    }

    private void begin(DatagramChannel channel) throws IOException {
        DatagramProtocol created = new DatagramProtocol(settings.sizes(), new Network());
        ends.addTo(created);
        companions = companionSource.get();
        companions.add(channel, this);
        protocol = created;
        companion = channel;
    }

    private LocalEnd addEnd(DatagramAddress address) {
        LocalEnd created = ends.add(address, settings).end();
        if (protocol != null) {
            protocol.add(created);
        }
        changed.raise(); // waiting threads now have a device to drive
        return created;
    }

    // ---- peers

    /**
     * Restricts the endpoint to one peer, and drops datagrams from others.
     *
     * @throws java.nio.channels.AlreadyConnectedException if it is connected
     */
    public void connect(InetSocketAddress remote) throws IOException {
        guarded(() -> {
            requireOpen();
            InetSocketAddress to = DatagramAddresses.reachable(remote);
            DatagramChannel channel = bound(to);
            channel.connect(to);
            boolean done = false;
            try {
                DatagramAddress peer = DatagramAddresses.of(to);
                localEnd(peer, channel);
                protocol().connect(peer);
                connected = to;
                done = true;
            } finally {
                if (!done) {
                    channel.disconnect();
                }
            }
            return null;
        });
        changed.raise();
    }

    /** Reverses {@link #connect}; has no effect if the endpoint is not connected. */
    public void disconnect() throws IOException {
        guarded(() -> {
            requireOpen();
            if (connected != null && companion != null) {
                companion.disconnect();
                protocol().connect(null);
                connected = null;
                pendingFailure = null;
            }
            return null;
        });
    }

    private DatagramChannel bound(InetSocketAddress peer) throws IOException {
        if (companion == null) {
            String wildcard = peer.getAddress() instanceof Inet4Address ? "0.0.0.0" : "::";
            open(new InetSocketAddress(InetAddress.ofLiteral(wildcard), 0));
        }
        return requireBound();
    }

    /** Returns the local end for sending to a peer. */
    private LocalEnd localEnd(DatagramAddress peer, DatagramChannel channel) throws IOException {
        DatagramAddress address = DatagramEnds.addressFor(peer, (InetSocketAddress) channel.getLocalAddress());
        DatagramResources end = ends.find(address);
        return end == null ? addEnd(address) : end.end();
    }

    /** The environment of the protocol. Called with the lock held. */
    private final class Network implements DatagramNetwork {
        @Override
        public @Nullable LocalEnd localEnd(DatagramAddress peer, boolean wanted) {
            try {
                return DatagramEndpoint.this.localEnd(peer, requireBound());
            } catch (IOException failed) {
                if (wanted) {
                    throw new UncheckedIOException(failed);
                }
            } catch (RdmaException failed) {
                if (wanted) {
                    throw failed;
                }
            }
            return null;
        }

        @Override
        public DatagramPath path(LocalEnd from, DatagramAddress peer) {
            return ends.path(from, peer, settings.typeOfService());
        }

        @Override
        public boolean sendCompanion(ByteBuffer message, DatagramAddress peer) {
            try {
                InetSocketAddress to = DatagramAddresses.socketAddress(peer);
                DatagramChannel channel = requireBound();
                int begin = message.position();
                try {
                    return channel.send(message, to) > 0;
                } catch (PortUnreachableException refused) {
                    // The failure belongs to an earlier message; this one was not sent.
                    pendingFailure = SocketFailures.portUnreachable(refused);
                    return channel.send(message.position(begin), to) > 0;
                }
            } catch (IOException failed) {
                sendFailure = failed; // reported to a sending application; a lost answer is not reported
                return false;
            }
        }

        @Override
        public void readCompanion() {
            DatagramProtocol current = protocol;
            if (current != null && !closed) {
                DatagramEndpoint.this.readCompanion(current);
            }
        }
    }

    // ---- data

    /**
     * Sends a datagram to the connected peer, completely or not at all.
     *
     * @return true if it was sent; false if there is no free send slot
     * @throws IOException if it is too long, there is no route, or an earlier one did not arrive
     */
    public boolean send(ByteBuffer data) throws IOException {
        return guarded(() -> {
            requireOpen();
            InetSocketAddress to = connected;
            if (to == null) {
                throw new SocketException("Destination address required (the socket is not connected)");
            }
            return transmit(data, to);
        });
    }

    /**
     * Sends a datagram, completely or not at all.
     *
     * @return true if it was sent; false if there is no free send slot
     * @throws java.nio.channels.AlreadyConnectedException if the endpoint is connected to another peer
     * @throws IOException as {@link #send(ByteBuffer)}
     */
    public boolean send(ByteBuffer data, InetSocketAddress remote) throws IOException {
        return guarded(() -> {
            requireOpen();
            InetSocketAddress to = DatagramAddresses.reachable(remote);
            if (connected != null && !connected.equals(to)) {
                throw new java.nio.channels.AlreadyConnectedException();
            }
            bound(to);
            return transmit(data, to);
        });
    }

    private boolean transmit(ByteBuffer data, InetSocketAddress to) throws IOException {
        DatagramAddress peer = DatagramAddresses.of(to);
        requirePayloadBytes(data.remaining(), to.getAddress());
        throwPending();
        progress();
        sendFailure = null;
        int begin = data.position();
        boolean sent = protocol().send(data, peer, SystemTime.nanos());
        IOException why = sendFailure;
        if (why != null) {
            data.position(begin);
            throw why;
        }
        return sent;
    }

    /**
     * Receives the next datagram. If it does not fit into the buffer, the rest is discarded.
     *
     * @param leave true to leave the datagram queued
     * @return the address of the sender; null if no datagram is available
     * @throws IOException if a datagram that was sent earlier did not arrive
     */
    public @Nullable InetSocketAddress receive(ByteBuffer target, boolean leave) throws IOException {
        return guarded(() -> {
            requireOpen();
            requireBound();
            progress();
            DatagramAddress from = protocol().receive(target, leave);
            if (from == null) {
                throwPending();
                return null;
            }
            return sourceOf(from);
        });
    }

    private InetSocketAddress sourceOf(DatagramAddress from) {
        if (!from.equals(lastSource)) {
            lastSource = from;
            lastSocketAddress = DatagramAddresses.socketAddress(from);
        }
        return lastSocketAddress;
    }

    /** Handles available input, up to a limit per call. Returns whether there may be more. */
    private boolean progress() {
        DatagramProtocol current = protocol;
        if (current == null) {
            return false;
        }
        if (companionReadable) {
            readCompanion(current);
        }
        return ends.progress(current);
    }

    private void readCompanion(DatagramProtocol current) {
        companionReadable = false;
        DatagramChannel channel = companion;
        try {
            for (int i = 0; i < COMPANION_BATCH && channel != null; i++) {
                incoming.clear();
                if (!(channel.receive(incoming) instanceof InetSocketAddress from)) {
                    return;
                }
                current.onCompanion(DatagramAddresses.of(from), incoming.flip(), SystemTime.nanos());
            }
        } catch (PortUnreachableException refused) {
            pendingFailure = SocketFailures.portUnreachable(refused);
        } catch (IOException failed) {
            pendingFailure = failed;
        }
    }

    @Override
    public void onCompanionReadable() {
        companionReadable = true;
        synchronized (lock) {
            DatagramProtocol current = protocol;
            if (current != null && !closed && companionReadable) {
                readCompanion(current);
            }
        }
        changed.raise();
    }

    /** Returns the number of messages dropped for a reason. */
    public long dropped(Drop why) {
        synchronized (lock) {
            return protocol == null ? 0 : protocol.dropped(why);
        }
    }

    /**
     * Returns the number of datagrams sent over UDP. They went to peers with a queue pair that was unknown or had to be
     * confirmed, or were too long for the path.
     */
    public long questions() {
        synchronized (lock) {
            return protocol == null ? 0 : protocol.questions();
        }
    }

    private void throwPending() throws IOException {
        IOException why = pendingFailure;
        pendingFailure = null;
        if (why != null) {
            throw why;
        }
    }

    // ---- readiness and waiting

    @Override
    int check(Check check) {
        synchronized (lock) {
            try {
                if (closed) {
                    return Readiness.IN | Readiness.OUT | Readiness.HANG_UP;
                }
                boolean more = progress();
                if (check == Check.ARM) {
                    more = ends.arm() ? progress() : more;
                    if (more) {
                        changed.raise(); // completions before arming are not reported
                    }
                }
                DatagramProtocol current = protocol;
                if (current == null) {
                    return Readiness.OUT;
                }
                if (pendingFailure != null || broken != null) {
                    return Readiness.IN | Readiness.OUT | Readiness.ERROR;
                }
                return (current.canReceive() ? Readiness.IN : 0) | (current.canSend() ? Readiness.OUT : 0);
            } catch (RdmaException broken) {
                return Readiness.IN | Readiness.OUT | Readiness.ERROR;
            }
        }
    }

    @Override
    public @Nullable WaitDriver waitDriver() {
        return closed ? null : ends.waitDriver();
    }

    @Override
    WaitDriver stackDriver() {
        WaitDriver driver = ends.waitDriver();
        return driver == null ? SystemTime.PARKING : driver;
    }

    // ---- end

    /** Closes the endpoint. Waits at most one second for outstanding sends. */
    @Override
    public void close() {
        synchronized (lock) {
            if (closed) {
                return;
            }
            closed = true;
        }
        changed.raise();
        DatagramChannel channel = companion;
        CompanionService service = companions;
        if (channel != null && service != null) {
            service.close(channel);
        }
        // This thread pauses in the system's time; the stack's virtual time may not pass meanwhile.
        long deadline = SystemTime.nanos() + LINGER_NANOS;
        while (!isQuiet() && SystemTime.nanos() - deadline < 0) {
            LockSupport.parkNanos(LINGER_POLL_NANOS);
        }
        release();
    }

    private boolean isQuiet() {
        synchronized (lock) {
            try {
                progress();
                return protocol == null || protocol.isQuiet();
            } catch (RdmaException broken) {
                return true;
            }
        }
    }

    private void release() {
        synchronized (lock) {
            if (protocol != null) {
                protocol.close();
                protocol = null;
            }
            ends.close();
        }
    }

    // ---- calls

    private void requireOpen() throws SocketException {
        if (closed) {
            throw new SocketException("Socket closed");
        }
        if (broken != null) {
            throw new SocketException("The socket is broken: " + broken);
        }
    }

    @Override
    void onError(String why) {
        broken = why;
    }

    private DatagramChannel requireBound() throws SocketException {
        DatagramChannel channel = companion;
        if (channel == null) {
            throw new SocketException("Invalid argument (the socket is not bound)");
        }
        return channel;
    }

    private DatagramProtocol protocol() throws SocketException {
        DatagramProtocol current = protocol;
        if (current == null) {
            throw new SocketException("Socket closed");
        }
        return current;
    }

    /** Throws if a datagram is longer than the maximum for an address. */
    public static void requirePayloadBytes(long bytes, InetAddress peer) throws SocketException {
        int most = maxPayloadBytes(peer);
        if (bytes > most) {
            throw new SocketException(
                    "Message too long (" + bytes + " bytes; a datagram of an RDMA socket has at most " + most + ")");
        }
    }

    /** Returns the maximum number of bytes of a datagram to an address. */
    public static int maxPayloadBytes(InetAddress peer) {
        return DatagramProtocol.maxPayloadBytes(peer instanceof Inet4Address);
    }
}
