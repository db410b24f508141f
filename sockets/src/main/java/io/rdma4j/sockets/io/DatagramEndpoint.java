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
 * A datagram socket: a UDP socket that introduces peers to each other, and a queue pair for each local address that is used,
 * for everything else. Nothing here waits but {@link #await} and, for a moment, {@link #close}. Thread safe.
 */
public final class DatagramEndpoint extends SocketEndpoint implements CompanionService.Target {
    /** How often a free port is looked for that is free in both spaces of ports. */
    private static final int PORT_ATTEMPTS = 16;

    /** Room for every datagram. */
    public static final int MOST_BYTES = DatagramSizes.SLOT_BYTES;

    private static final int COMPANION_BYTES = 4096;

    /** Messages that are read at a time. */
    private static final int COMPANION_BATCH = 64;

    private static final long LINGER_NANOS = 1_000_000_000L;
    private static final long LINGER_LOOK_NANOS = 20_000;

    private final DatagramEnds ends = new DatagramEnds(this);
    private final ByteBuffer incoming = ByteBuffer.allocateDirect(COMPANION_BYTES);
    private volatile DatagramSettings settings;
    private volatile boolean closed;

    /** Set by the service, so that a thread that polls the endpoint all the time reads in its place. */
    private volatile boolean companionReadable;

    private @Nullable CompanionService companions;
    private @Nullable DatagramChannel companion;
    private @Nullable DatagramProtocol protocol;
    private @Nullable InetSocketAddress connected;

    /** Why something that was sent earlier did not arrive; to be told once. */
    private @Nullable IOException pending;

    /** Why the UDP socket did not take a message now. */
    private @Nullable IOException notTaken;

    private DatagramAddress lastSource = new DatagramAddress(0, 0, 0, 0);
    private InetSocketAddress lastSocketAddress = new InetSocketAddress(0);

    /** Makes an endpoint that is neither bound nor connected. */
    public DatagramEndpoint(DatagramSettings settings) {
        this.settings = settings;
    }

    // ---- settings and addresses

    /** What it is set to. */
    public DatagramSettings settings() {
        return settings;
    }

    /** Changes the settings; sizes and reuse count until it is bound, the type of service for peers that are new then. */
    public void settings(DatagramSettings value) throws IOException {
        guarded(() -> {
            settings = value;
            DatagramChannel own = companion;
            if (own != null && !closed) {
                own.setOption(StandardSocketOptions.IP_TOS, value.typeOfService());
            }
            return null;
        });
    }

    /** Whether it has a port, and its sizes with it. */
    public boolean isBound() {
        lock.lock();
        try {
            return companion != null;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    /** Its address and port, or null while it has none. */
    public @Nullable InetSocketAddress localAddress() {
        lock.lock();
        try {
            DatagramChannel own = companion;
            return own == null || closed ? null : (InetSocketAddress) own.getLocalAddress();
        } catch (IOException gone) {
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Whom it is connected to, or null. */
    public @Nullable InetSocketAddress peerAddress() {
        lock.lock();
        try {
            return closed ? null : connected;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Binds it; port 0 for any that is free.
     *
     * @param local an address of this host, or a wildcard; null for that of IPv4 and any port
     * @throws java.net.BindException if the address is not of this host, or the port is in use for UDP or for datagrams of
     *     RDMA
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
        waiting.signalAll();
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
                    channel.close();
                }
            }
        }
    }

    private void begin(DatagramChannel channel) throws IOException {
        DatagramProtocol made = new DatagramProtocol(settings.sizes(), new Network());
        ends.introduceTo(made);
        companions = CompanionService.instance();
        companions.add(channel, this);
        protocol = made;
        companion = channel;
    }

    private LocalEnd addEnd(DatagramAddress address) {
        LocalEnd made = ends.add(address, settings).end();
        if (protocol != null) {
            protocol.add(made);
        }
        waiting.signalAll(); // who waits may have to do it elsewhere from now on
        return made;
    }

    // ---- peers

    /**
     * Sends to one peer from now on, and receives from no other; what others have sent is dropped.
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
        waiting.signalAll();
    }

    /** Takes {@link #connect} back, if it is connected. */
    public void disconnect() throws IOException {
        guarded(() -> {
            requireOpen();
            if (connected != null && companion != null) {
                companion.disconnect();
                protocol().connect(null);
                connected = null;
                pending = null;
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

    /** The local end that leads to a peer. */
    private LocalEnd localEnd(DatagramAddress peer, DatagramChannel channel) throws IOException {
        DatagramAddress address = DatagramEnds.addressFor(peer, (InetSocketAddress) channel.getLocalAddress());
        DatagramResources end = ends.find(address);
        return end == null ? addEnd(address) : end.end();
    }

    /** The world around the protocol. Called with the lock held. */
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
                    pending = SocketFailures.portUnreachable(refused); // of an earlier message: this one was not sent
                    return channel.send(message.position(begin), to) > 0;
                }
            } catch (IOException failed) {
                notTaken = failed; // whoever sends is told; that an answer cannot go is nobody's business
                return false;
            }
        }

        @Override
        public void readCompanion() {
            DatagramProtocol own = protocol;
            if (own != null && !closed) {
                DatagramEndpoint.this.readCompanion(own);
            }
        }
    }

    // ---- data

    /**
     * Sends a datagram to the peer that it is connected to; all or nothing.
     *
     * @return whether it was sent; false if there is no room now
     * @throws IOException if it is too long, if there is no way, or why an earlier one did not arrive
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
     * Sends a datagram; all or nothing.
     *
     * @return whether it was sent; false if there is no room now
     * @throws java.nio.channels.AlreadyConnectedException if the socket is connected to somebody else
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
        notTaken = null;
        int begin = data.position();
        boolean sent = protocol().send(data, peer, System.nanoTime());
        IOException why = notTaken;
        if (why != null) {
            data.position(begin);
            throw why;
        }
        return sent;
    }

    /**
     * Takes the next datagram, as much as fits into the buffer; the rest is lost.
     *
     * @param leave whether it stays, to be received again
     * @return who sent it; null if there is none now
     * @throws IOException why something that was sent did not arrive
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

    /** Takes what has come, as much as one call may; whether there may be more. */
    private boolean progress() {
        DatagramProtocol own = protocol;
        if (own == null) {
            return false;
        }
        if (companionReadable) {
            readCompanion(own);
        }
        return ends.progress(own);
    }

    private void readCompanion(DatagramProtocol own) {
        companionReadable = false;
        DatagramChannel channel = companion;
        try {
            for (int i = 0; i < COMPANION_BATCH && channel != null; i++) {
                incoming.clear();
                if (!(channel.receive(incoming) instanceof InetSocketAddress from)) {
                    return;
                }
                own.onCompanion(DatagramAddresses.of(from), incoming.flip(), System.nanoTime());
            }
        } catch (PortUnreachableException refused) {
            pending = SocketFailures.portUnreachable(refused);
        } catch (IOException failed) {
            pending = failed;
        }
    }

    @Override
    public void onCompanionReadable() {
        companionReadable = true;
        lock.lock();
        try {
            DatagramProtocol own = protocol;
            if (own != null && !closed && companionReadable) {
                readCompanion(own);
            }
        } finally {
            lock.unlock();
        }
        waiting.signalAll();
    }

    /** How many datagrams were dropped for a reason. */
    public long dropped(Drop why) {
        lock.lock();
        try {
            return protocol == null ? 0 : protocol.dropped(why);
        } finally {
            lock.unlock();
        }
    }

    /** How many datagrams went over UDP: those to peers whose queue pair was not known, and those too long for the path. */
    public long questions() {
        lock.lock();
        try {
            return protocol == null ? 0 : protocol.questions();
        } finally {
            lock.unlock();
        }
    }

    private void throwPending() throws IOException {
        IOException why = pending;
        pending = null;
        if (why != null) {
            throw why;
        }
    }

    // ---- readiness and waiting

    @Override
    public int knownReadiness() {
        return look(Look.KNOWN);
    }

    @Override
    public int readiness() {
        return look(Look.NOW);
    }

    @Override
    public int readinessToWait() {
        return look(Look.TO_WAIT);
    }

    private int look(Look look) {
        lock.lock();
        try {
            if (closed) {
                return Readiness.IN | Readiness.OUT | Readiness.HANG_UP;
            }
            boolean more = look != Look.KNOWN && progress();
            if (look == Look.TO_WAIT) {
                more = ends.arm() ? progress() : more;
                if (more) {
                    waiting.signalAll(); // nobody tells of what has come already
                }
            }
            DatagramProtocol own = protocol;
            if (own == null) {
                return Readiness.OUT;
            }
            if (pending != null) {
                return Readiness.IN | Readiness.OUT | Readiness.ERROR;
            }
            return (own.canReceive() ? Readiness.IN : 0) | (own.canSend() ? Readiness.OUT : 0);
        } catch (RdmaException broken) {
            return Readiness.IN | Readiness.OUT | Readiness.ERROR;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public @Nullable CompletionHub hub() {
        return closed ? null : ends.hub();
    }

    @Override
    void takeCompletions() {
        ends.disarmed();
        progress();
    }

    // ---- end

    /** Closes it; what was sent goes first. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
        } finally {
            lock.unlock();
        }
        waiting.signalAll();
        DatagramChannel channel = companion;
        CompanionService service = companions;
        if (channel != null && service != null) {
            service.close(channel);
        }
        long deadline = System.nanoTime() + LINGER_NANOS;
        while (!isQuiet() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(LINGER_LOOK_NANOS);
        }
        release();
    }

    private boolean isQuiet() {
        lock.lock();
        try {
            progress();
            return protocol == null || protocol.isQuiet();
        } catch (RdmaException broken) {
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void release() {
        lock.lock();
        try {
            if (protocol != null) {
                protocol.close();
                protocol = null;
            }
            ends.close();
        } finally {
            lock.unlock();
        }
    }

    // ---- calls

    private void requireOpen() throws SocketException {
        if (closed) {
            throw new SocketException("Socket closed");
        }
    }

    private DatagramChannel requireBound() throws SocketException {
        DatagramChannel channel = companion;
        if (channel == null) {
            throw new SocketException("Invalid argument (the socket is not bound)");
        }
        return channel;
    }

    private DatagramProtocol protocol() throws SocketException {
        DatagramProtocol own = protocol;
        if (own == null) {
            throw new SocketException("Socket closed");
        }
        return own;
    }

    /** Refuses a datagram that is longer than those to an address may be. */
    public static void requirePayloadBytes(long bytes, InetAddress peer) throws SocketException {
        int most = mostPayloadBytes(peer);
        if (bytes > most) {
            throw new SocketException(
                    "Message too long (" + bytes + " bytes; a datagram of an RDMA socket has at most " + most + ")");
        }
    }

    /** Most bytes of a datagram to an address. */
    public static int mostPayloadBytes(InetAddress peer) {
        return DatagramProtocol.mostPayloadBytes(peer instanceof Inet4Address);
    }
}
