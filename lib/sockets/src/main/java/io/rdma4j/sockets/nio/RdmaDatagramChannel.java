package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.DatagramEndpoint;
import io.rdma4j.sockets.io.DatagramEndpointOptions;
import io.rdma4j.sockets.io.DatagramSettings;
import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketCleaner;
import io.rdma4j.sockets.io.SocketEndpoint;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.net.BlockingCalls;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A datagram channel over RDMA: a {@link DatagramChannel} without multicast and broadcast. A datagram has at most
 * {@link DatagramEndpoint#maxPayloadBytes} bytes. Thread safe. At most one thread at a time receives, and one sends;
 * others wait.
 */
public final class RdmaDatagramChannel extends DatagramChannel implements RdmaSelectable {
    private final SocketFamily family;
    private final DatagramEndpoint endpoint;
    private final DatagramEndpointOptions options;
    private final KeyList keys = new KeyList();
    private final Cleaner.Cleanable cleanable;

    /** Held while receiving. If both locks are taken, this one is taken before {@link #writeLock}. */
    private final ReentrantLock readLock = new ReentrantLock();

    /** Held while sending. */
    private final ReentrantLock writeLock = new ReentrantLock();

    /** Guards binding and {@link #socket}. No thread blocks while holding it. */
    private final Object state = new Object();

    private @Nullable DatagramSocket socket;

    /** A contiguous copy of a datagram that is received into several buffers. */
    private @Nullable ByteBuffer scattered;

    /** A contiguous copy of a datagram that is sent from several buffers. */
    private @Nullable ByteBuffer gathered;

    /** The local address that a closed socket returns. */
    private volatile @Nullable InetSocketAddress lastLocal;

    /** The remote address that a closed socket returns. */
    private volatile @Nullable InetSocketAddress lastRemote;

    /** Opens a channel that is neither bound nor connected. */
    public RdmaDatagramChannel(SelectorProvider provider, ConnectionService service, SocketFamily family) {
        super(provider);
        this.family = family;
        DatagramEndpoint current = new DatagramEndpoint(service, DatagramSettings.DEFAULT);
        endpoint = current;
        options = new DatagramEndpointOptions(current);
        current.signal().add(keys::changed);
        cleanable = SocketCleaner.watch(this, () -> current);
    }

    // ---- addresses

    @Override
    public DatagramChannel bind(@Nullable SocketAddress local) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            requireOpen();
            if (endpoint.isBound()) {
                throw new AlreadyBoundException();
            }
            endpoint.bind(ChannelAddresses.local(local, family));
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    /**
     * Binds the channel like {@link #bind} with null. The endpoint itself would choose the family of its first peer.
     */
    private void bindIfUnbound() throws IOException {
        if (!endpoint.isBound()) {
            synchronized (state) { // a receiving and a sending thread may bind concurrently
                if (!endpoint.isBound()) {
                    endpoint.bind(family.any());
                }
            }
        }
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        requireOpen();
        return endpoint.localAddress();
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        requireOpen();
        return endpoint.peerAddress();
    }

    /** Returns the address that the channel is or was bound to, or null. */
    @Nullable
    InetSocketAddress localOrLast() {
        return isOpen() ? endpoint.localAddress() : lastLocal;
    }

    /** Returns the address that the channel is or was connected to, or null. */
    @Nullable
    InetSocketAddress remoteOrLast() {
        return isOpen() ? endpoint.peerAddress() : lastRemote;
    }

    @Override
    public boolean isConnected() {
        return isOpen() && endpoint.peerAddress() != null;
    }

    @Override
    public DatagramChannel connect(SocketAddress remote) throws IOException {
        return connect(remote, false);
    }

    /** Connects; with {@code reconnect}, a connected channel changes its peer. */
    DatagramChannel connect(SocketAddress remote, boolean reconnect) throws IOException {
        InetSocketAddress to = ChannelAddresses.remote(remote, family);
        readLock.lock();
        writeLock.lock();
        try {
            requireOpen();
            if (endpoint.peerAddress() != null) {
                if (!reconnect) {
                    throw new AlreadyConnectedException();
                }
                endpoint.disconnect();
            }
            bindIfUnbound();
            unlessClosed(() -> {
                endpoint.connect(to);
                return true;
            });
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    @Override
    public DatagramChannel disconnect() throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            if (isConnected()) {
                endpoint.disconnect();
            }
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    private InetSocketAddress requireConnected() throws ClosedChannelException {
        requireOpen();
        InetSocketAddress peer = endpoint.peerAddress();
        if (peer == null) {
            requireOpen(); // a channel that was closed concurrently has no peer
            throw new NotYetConnectedException();
        }
        return peer;
    }

    // ---- multicast

    @Override
    public MembershipKey join(InetAddress group, NetworkInterface through) throws IOException {
        throw noGroups(group, through);
    }

    @Override
    public MembershipKey join(InetAddress group, NetworkInterface through, InetAddress source) throws IOException {
        Objects.requireNonNull(source, "source");
        if (source.isMulticastAddress() || source.isAnyLocalAddress()) {
            throw new IllegalArgumentException("Source " + source + " is not a unicast address");
        }
        throw noGroups(group, through);
    }

    private UnsupportedOperationException noGroups(InetAddress group, NetworkInterface through) throws IOException {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(through, "network interface");
        if (!group.isMulticastAddress()) {
            throw new IllegalArgumentException("Group " + group + " is not a multicast address");
        }
        requireOpen();
        return new UnsupportedOperationException("Cannot join " + group
                + ": datagram RDMA sockets do not support multicast. Use DatagramChannel.open for UDP multicast, or"
                + " io.rdma4j.cm.CmId.joinMulticast for RDMA multicast");
    }

    // ---- waiting

    private interface Attempt {
        boolean attempt() throws IOException;
    }

    /**
     * Makes an attempt. A blocking channel repeats it until it succeeds, waiting until the endpoint is ready.
     *
     * @param wanted a set of {@link Readiness}
     * @param deadlineNanos the end of the wait, a time of the endpoint's clock
     * @return true if an attempt succeeded; false if the channel must not block, or on timeout
     */
    private boolean perform(int wanted, long deadlineNanos, Attempt attempt) throws IOException {
        if (!isBlocking()) {
            return unlessClosed(attempt);
        }
        boolean done = false;
        begin();
        try {
            done = attempt.attempt();
            while (!done && isOpen() && endpoint.await(wanted, deadlineNanos) != 0) {
                done = attempt.attempt();
            }
        } finally {
            if (!done && Thread.currentThread().isInterrupted()) {
                begin(); // the wait may have ended before the interrupting thread closes the channel
            }
            end(done);
        }
        return done;
    }

    private boolean unlessClosed(Attempt attempt) throws IOException {
        try {
            return attempt.attempt();
        } catch (IOException failed) {
            if (!isOpen()) {
                throw new AsynchronousCloseException();
            }
            throw failed;
        }
    }

    // ---- receiving

    private static void requireWritable(ByteBuffer target) {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    @Override
    public @Nullable SocketAddress receive(ByteBuffer target) throws IOException {
        return receive(target, 0);
    }

    /**
     * Receives a datagram.
     *
     * @param timeoutMillis the maximum time to wait in milliseconds; 0 to wait indefinitely
     * @throws SocketTimeoutException on timeout
     */
    @Nullable
    InetSocketAddress receive(ByteBuffer target, int timeoutMillis) throws IOException {
        requireWritable(target);
        readLock.lock();
        try {
            requireOpen();
            bindIfUnbound(); // may start the stack, which has the clock of the timeout
            long deadlineNanos = BlockingCalls.deadlineNanos(endpoint, timeoutMillis);
            InetSocketAddress[] from = new InetSocketAddress[1];
            boolean done = perform(Readiness.IN, deadlineNanos, () -> {
                InetSocketAddress sender = endpoint.receive(target, false);
                if (sender == null) {
                    return false;
                }
                from[0] = sender;
                return true;
            });
            if (done) {
                return from[0];
            }
            if (isBlocking()) {
                throw new SocketTimeoutException("Receive timed out");
            }
            return null;
        } finally {
            readLock.unlock();
        }
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        requireWritable(target);
        readLock.lock();
        try {
            requireConnected();
            int before = target.position();
            if (target.hasRemaining()) {
                perform(Readiness.IN, Long.MAX_VALUE, () -> endpoint.receive(target, false) != null);
            }
            return target.position() - before;
        } finally {
            readLock.unlock();
        }
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        long room = 0;
        for (int i = offset; i < offset + length; i++) {
            requireWritable(targets[i]);
            room += targets[i].remaining();
        }
        readLock.lock();
        try {
            requireConnected();
            if (room == 0) {
                return 0;
            }
            ByteBuffer whole = scattered;
            if (whole == null) {
                whole = ByteBuffer.allocate(DatagramEndpoint.MAX_BYTES);
                scattered = whole;
            }
            ByteBuffer into = whole.clear();
            perform(Readiness.IN, Long.MAX_VALUE, () -> endpoint.receive(into, false) != null);
            into.flip();
            return scatter(into, targets, offset, length);
        } finally {
            readLock.unlock();
        }
    }

    private static long scatter(ByteBuffer whole, ByteBuffer[] targets, int offset, int length) {
        for (int i = offset; i < offset + length && whole.hasRemaining(); i++) {
            int count = Math.min(whole.remaining(), targets[i].remaining());
            targets[i].put(whole.slice(whole.position(), count));
            whole.position(whole.position() + count);
        }
        return whole.position();
    }

    // ---- sending

    @Override
    public int send(ByteBuffer source, SocketAddress target) throws IOException {
        Objects.requireNonNull(source);
        InetSocketAddress to = ChannelAddresses.remote(target, family);
        writeLock.lock();
        try {
            requireOpen();
            bindIfUnbound();
            int bytes = source.remaining();
            return perform(Readiness.OUT, Long.MAX_VALUE, () -> endpoint.send(source, to)) ? bytes : 0;
        } finally {
            writeLock.unlock();
        }
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source);
        writeLock.lock();
        try {
            requireConnected();
            int bytes = source.remaining();
            boolean sent = bytes > 0 && perform(Readiness.OUT, Long.MAX_VALUE, () -> endpoint.send(source));
            return sent ? bytes : 0;
        } finally {
            writeLock.unlock();
        }
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        writeLock.lock();
        try {
            InetSocketAddress peer = requireConnected();
            long bytes = 0;
            for (int i = offset; i < offset + length; i++) {
                bytes += sources[i].remaining();
            }
            if (bytes == 0) {
                return 0;
            }
            DatagramEndpoint.requirePayloadBytes(bytes, peer.getAddress());
            ByteBuffer whole = gather(sources, offset, length);
            if (!perform(Readiness.OUT, Long.MAX_VALUE, () -> endpoint.send(whole))) {
                return 0;
            }
            for (int i = offset; i < offset + length; i++) {
                sources[i].position(sources[i].limit());
            }
            return bytes;
        } finally {
            writeLock.unlock();
        }
    }

    /** Copies the remaining bytes; the positions of the buffers do not change. */
    private ByteBuffer gather(ByteBuffer[] sources, int offset, int length) {
        ByteBuffer whole = gathered;
        if (whole == null) {
            whole = ByteBuffer.allocate(DatagramEndpoint.MAX_BYTES);
            gathered = whole;
        }
        whole.clear();
        for (int i = offset; i < offset + length; i++) {
            whole.put(sources[i].duplicate());
        }
        return whole.flip();
    }

    // ---- selecting

    @Override
    public int readyOps(int interest, boolean toWait) {
        int ready = toWait ? endpoint.readinessToWait() : endpoint.readiness();
        int ops = (ready & Readiness.IN) != 0 ? SelectionKey.OP_READ : 0;
        ops |= (ready & Readiness.OUT) != 0 ? SelectionKey.OP_WRITE : 0;
        return ops & interest;
    }

    @Override
    public @Nullable SelectableChannel platformChannel() {
        return null;
    }

    @Override
    public SocketEndpoint endpoint() {
        return endpoint;
    }

    @Override
    public KeyList keys() {
        return keys;
    }

    // ---- options

    @Override
    public <T> DatagramChannel setOption(SocketOption<T> name, T value) throws IOException {
        requireOpen();
        options.set(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        requireOpen();
        return options.get(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return DatagramEndpointOptions.SUPPORTED;
    }

    @Override
    public DatagramSocket socket() {
        synchronized (state) {
            DatagramSocket current = socket;
            if (current == null) {
                current = ChannelDatagramSocket.of(this);
                socket = current;
            }
            return current;
        }
    }

    // ---- modes and end

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        readLock.lock(); // waits for calls in progress
        writeLock.lock();
        try {
            requireOpen();
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    @Override
    protected void implCloseSelectableChannel() {
        lastLocal = endpoint.localAddress();
        lastRemote = endpoint.peerAddress();
        try {
            endpoint.close();
        } finally {
            cleanable.clean();
        }
    }

    @Override
    public String toString() {
        if (!isOpen()) {
            return "RdmaDatagramChannel[closed]";
        }
        InetSocketAddress local = endpoint.localAddress();
        InetSocketAddress remote = endpoint.peerAddress();
        return "RdmaDatagramChannel[" + (local == null ? "unbound" : "local=" + local)
                + (remote == null ? "" : " remote=" + remote) + "]";
    }
}
