package io.rdma4j.cm;

import io.rdma4j.cm.spi.AcknowledgementTimeouts;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.XrcDomain;
import java.net.InetSocketAddress;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The state of an identifier: its parts, options, properties and device, and closing it. The subclass {@link CmId} adds
 * the calls that bind and connect it. A lock serialises the application's calls.
 */
abstract sealed class IdState implements AutoCloseable permits CmId {
    static final String RESOLVE_FIRST = "Bind or resolve an address first";
    static final String RESOLVE_ADDRESS = "Resolve the address first";

    private static final String SET_OPTION = "rdma_set_option";

    private final ConnectionManager manager;
    private final PortSpace portSpace;
    private final QueuePairType queuePairType;

    /** Serialises the application's calls. No provider thread takes it. */
    private final ReentrantLock lock = new ReentrantLock();

    final IdEvents events;
    final ProviderBinding binding;
    final IdConnection connection = new IdConnection(self());
    final IdQueues queues = new IdQueues(self());

    /** Created at the first use, which few identifiers need; guarded by the lock. */
    private @Nullable MulticastMemberships memberships;

    /** Created at the first use; guarded by the lock. */
    private @Nullable IdLookup lookup;

    /** The open device, or null before the first use; guarded by the lock. */
    private OpenDevices.@Nullable Use device;

    /** Sets up the identifier of each request that {@link CmId#getRequest} returns. */
    volatile Consumer<CmId> requestSetUp = request -> {};

    private volatile @Nullable Object context;
    private volatile boolean closed;

    IdState(
            EventChannel channel,
            boolean synchronous,
            PortSpace portSpace,
            QueuePairType type,
            @Nullable Object context) {
        if (portSpace != PortSpace.IB && type != portSpace.queuePairType()) {
            throw invalid(
                    "rdma_create_id",
                    "identifiers of the port space " + portSpace + " are of the type " + portSpace.queuePairType()
                            + ", not " + type,
                    "Use the port space IB, which takes every type");
        }
        this.manager = channel.connectionManager();
        this.portSpace = portSpace;
        this.queuePairType = type;
        this.context = context;
        this.events = new IdEvents(self(), channel, synchronous);
        this.binding = new ProviderBinding(manager.providers(), portSpace, type, events);
        events.attach(); // last, so that the channel has no identifier if the creation fails
    }

    /**
     * Creates the identifier of a connection request. Its events are queued in a separate channel until the request is
     * taken.
     */
    IdState(IdState listener, ProviderCmId child) {
        this.manager = listener.manager;
        this.portSpace = listener.portSpace;
        this.queuePairType = listener.queuePairType;
        this.context = listener.context;
        this.events = new IdEvents(self(), new EventChannel(manager), false);
        this.binding = new ProviderBinding(manager.providers(), portSpace, queuePairType, events, child);
        events.attach();
    }

    private CmId self() {
        return (CmId) this;
    }

    /** Returns the multicast groups, which the first call creates. */
    MulticastMemberships memberships() {
        lock.lock();
        try {
            MulticastMemberships current = memberships;
            if (current == null) {
                current = new MulticastMemberships(self());
                memberships = current;
            }
            return current;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the background lookup, which the first call creates. */
    IdLookup lookup() {
        lock.lock();
        try {
            IdLookup current = lookup;
            if (current == null) {
                current = new IdLookup(self());
                lookup = current;
            }
            return current;
        } finally {
            lock.unlock();
        }
    }

    // ---- options

    /**
     * Sets the IPv4 type of service or IPv6 traffic class of the connection's packets. C: {@code rdma_set_option} with
     * {@code RDMA_OPTION_ID_TOS}.
     *
     * @param typeOfService 0 to 255
     * @throws RdmaException {@code EINVAL} if the value is out of range
     */
    public void setTypeOfService(int typeOfService) {
        requireRange(SET_OPTION, "type of service", typeOfService, 255);
        locked(SET_OPTION, () -> binding.option(id -> id.setTypeOfService(typeOfService)));
    }

    /**
     * Sets whether several identifiers may bind the port. All of them must set the option, and while there are several,
     * none can listen. Must be set before listening, and may be cleared only while idle. C:
     * {@code RDMA_OPTION_ID_REUSEADDR}.
     *
     * @throws RdmaException {@code EINVAL} if the identifier listens, or if the option is cleared while it is not idle
     */
    public void setReuseAddress(boolean reuseAddress) {
        locked(SET_OPTION, () -> binding.option(id -> id.setReuseAddress(reuseAddress)));
    }

    /**
     * Sets whether an IPv6 wildcard excludes IPv4. Otherwise a listener on {@code ::} also accepts IPv4. Must be set
     * before listening. C: {@code RDMA_OPTION_ID_AFONLY}.
     */
    public void setIpv6Only(boolean ipv6Only) {
        locked(SET_OPTION, () -> binding.option(id -> id.setIpv6Only(ipv6Only)));
    }

    /**
     * Sets the filter that decides which peers may connect to this listener. Without a filter, every peer may connect.
     * The filter may be set and changed at any time, and applies to requests that arrive afterwards. To apply it to all
     * requests, set it before {@link CmId#listen(int)}. C has no counterpart.
     *
     * <p>The peer of a refused request receives {@code REJECTED} with reason 28, as if the application had rejected it.
     * The local side receives no event. The source is the source address of the packet, and only as trustworthy as
     * addresses in that network; see SECURITY.md.
     *
     * @param filter returns whether a request is passed to the listener. The thread that drives the device calls it for
     *     each request, under the device's lock and before any state is kept: it must be fast, must not block, and must
     *     not call RDMA methods. If it throws an exception or an {@link Error}, the request is refused
     */
    public void setAccessFilter(Predicate<ConnectionAttempt> filter) {
        locked(SET_OPTION, () -> binding.option(id -> id.setAccessFilter(filter)));
    }

    /**
     * Sets the acknowledgement timeout of the connection, 4.096 µs × 2<sup>n</sup>. The default exponent is 19 (2.1 s).
     * Has an effect only before connecting. C: {@code RDMA_OPTION_ID_ACK_TIMEOUT}.
     *
     * @param exponent the exponent n, 0 to 31; 0 waits indefinitely
     * @throws RdmaException {@code EINVAL} if the value is out of range, or the connection is not reliable
     */
    public void setAckTimeout(int exponent) {
        requireRange(SET_OPTION, "acknowledgement timeout exponent", exponent, 31);
        AcknowledgementTimeouts.require(queuePairType());
        locked(SET_OPTION, () -> binding.option(id -> id.setAckTimeout(exponent)));
    }

    /**
     * Sets the path instead of resolving the route. C: {@code RDMA_OPTION_IB_PATH}. Ends with {@code ROUTE_RESOLVED}. A
     * synchronous identifier does not wait for that event: the next waiting call stores it in {@link #event}.
     *
     * @throws RdmaException {@code EINVAL} unless the address is resolved and the route is not, or if the path MTU
     *     exceeds the device's
     */
    public void setPath(RoutePath path) {
        locked(SET_OPTION, () -> binding.required(SET_OPTION, RESOLVE_ADDRESS).setPath(path));
    }

    // ---- properties

    /** Returns the local address and port, or null while not bound. C: {@code rdma_get_local_addr}. */
    public @Nullable InetSocketAddress localAddress() {
        ProviderCmId provider = binding.first();
        return provider == null ? null : provider.localAddress();
    }

    /** Returns the peer's address and port, or null while unknown. C: {@code rdma_get_peer_addr}. */
    public @Nullable InetSocketAddress peerAddress() {
        ProviderCmId provider = binding.first();
        return provider == null ? null : provider.peerAddress();
    }

    /** Returns the local port, 0 while not bound. C: {@code rdma_get_src_port}. */
    public int sourcePort() {
        InetSocketAddress local = localAddress();
        return local == null ? 0 : local.getPort();
    }

    /** Returns the peer's port, 0 while unknown. C: {@code rdma_get_dst_port}. */
    public int destinationPort() {
        InetSocketAddress peer = peerAddress();
        return peer == null ? 0 : peer.getPort();
    }

    /** Returns the port space. */
    public PortSpace portSpace() {
        return portSpace;
    }

    /** Returns the type of its queue pairs. C: {@code qp_type}. */
    public QueuePairType queuePairType() {
        return queuePairType;
    }

    /**
     * Returns whether the identifier has a device. It has a device after it is bound to an address other than a
     * wildcard, or has resolved an address.
     */
    public boolean hasDevice() {
        ProviderCmId provider = binding.first();
        return provider != null && provider.device() != null;
    }

    /**
     * Returns the open device, which stays open as long as the device exists. If its interface is removed and another
     * interface gets the name, the old device is closed when no identifier uses it, with all objects that were created
     * from it. It is not closed if {@link ConnectionManager#devices} has returned it. C: {@code id->verbs}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device; see {@link #hasDevice}
     */
    public DeviceContext verbs() {
        return deviceUse("rdma_cm_id.verbs").context();
    }

    /** Returns the device's port, from 1; 0 while the identifier has no device. */
    public int portNumber() {
        ProviderCmId provider = binding.first();
        return provider == null ? 0 : provider.portNumber();
    }

    /** Returns the identifier's queue pair, or null. */
    public @Nullable QueuePair queuePair() {
        return queues.queuePair();
    }

    /** Returns the identifier's shared receive queue, or null. C: {@code id->srq}. */
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return queues.sharedReceiveQueue();
    }

    /**
     * Returns the queue pair's protection domain. Without a queue pair, returns the device's default domain, which
     * exists as long as any identifier uses it. C: {@code id->pd}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device
     */
    public ProtectionDomain protectionDomain() {
        QueuePair current = queuePair();
        return current == null ? deviceUse("rdma_cm_id.pd").defaultDomain() : current.protectionDomain();
    }

    /**
     * Returns the device's default XRC domain, which is created on first use. It exists as long as any identifier uses
     * the device. Its target queue pairs and shared receive queues may belong to several identifiers.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device
     */
    public XrcDomain xrcDomain() {
        return deviceUse("ibv_open_xrcd").defaultXrcDomain();
    }

    /** Returns the completion queue of the queue pair's send work requests, or null without a queue pair. */
    public @Nullable CompletionQueue sendCompletions() {
        QueuePair current = queuePair();
        return current == null ? null : current.sendCompletions();
    }

    /**
     * Returns the completion queue of receives, or null. It belongs to the XRC shared receive queue if the identifier
     * has one, otherwise to the queue pair.
     */
    public @Nullable CompletionQueue receiveCompletions() {
        return queues.receiveCompletions();
    }

    /** Returns the channel of {@link #sendCompletions}, or null if the application provided that queue. */
    public @Nullable CompletionChannel sendCompletionChannel() {
        return queues.sendChannel();
    }

    /** Returns the channel of {@link #receiveCompletions}, or null if the application provided that queue. */
    public @Nullable CompletionChannel receiveCompletionChannel() {
        return queues.receiveChannel();
    }

    /** Returns the event channel, or null if the identifier is synchronous. */
    public @Nullable EventChannel channel() {
        return events.isSynchronous() ? null : events.channel();
    }

    /** Returns the application's context object. */
    public @Nullable Object context() {
        return context;
    }

    /** Sets the application's context object. */
    public void setContext(@Nullable Object value) {
        context = value;
    }

    /**
     * Returns the event for which the last call of a synchronous identifier waited, until the next such call; otherwise
     * null.
     */
    public @Nullable CmEvent event() {
        return events.stored();
    }

    @Override
    public String toString() {
        ProviderCmId provider = binding.first();
        return provider == null ? "an idle identifier" : provider.describe();
    }

    // ---- end

    /**
     * Closes the identifier with its queue pair, and with its shared receive queue unless another queue pair uses it.
     * C: {@code rdma_destroy_id}. The call notifies the peer as the state requires: it rejects an unanswered request,
     * and disconnects an established connection. Pending events are discarded, and a listener's pending requests with
     * them. Later calls fail with {@code EINVAL}, and so does a waiting call of a synchronous identifier. Threads that
     * wait for events of the channel continue to wait.
     *
     * <p>A thread may close the identifier while it handles one of its events, and acknowledge the event afterwards; in
     * C it would wait for itself. The call waits until events that <em>other</em> threads have taken are acknowledged,
     * including a listener's connection requests. If one thread takes an event and another thread handles it, the event
     * must therefore be acknowledged before that other thread closes the identifier. The call also waits until all
     * events of the completion queues are acknowledged, whichever thread has taken them. If the thread is interrupted,
     * the wait ends and its interrupt status stays set.
     *
     * <p>Closing the identifier again, even in another thread during such a wait, returns without waiting for events of
     * the identifier. It closes the completion queues that could not be closed before.
     *
     * @throws RdmaException {@code EBUSY} if a queue pair or shared receive queue of another identifier reports to a
     *     completion queue of this one; {@code EINTR} if the thread is interrupted while it waits for an event of a
     *     completion queue. In both cases all objects except these completion queues are closed, the port is free, and
     *     another call closes the completion queues
     */
    @Override
    public void close() {
        if (!closeCalls()) {
            queues.closeAll(); // close the queues that could not be closed before
            return;
        }
        events.endWaits();
        IdQueues.runAll(queues::stop, this::closeBinding, queues::closeAll, this::releaseDevice);
    }

    /** Refuses further calls. Returns false if they were refused before. */
    private boolean closeCalls() {
        lock.lock();
        try {
            boolean isFirst = !closed;
            closed = true;
            return isFirst;
        } finally {
            lock.unlock();
        }
    }

    private void closeBinding() {
        lock.lock();
        try {
            binding.close();
        } finally {
            lock.unlock();
        }
        events.detach();
    }

    private void releaseDevice() {
        events.acknowledgeStored();
        var _ = events.awaitAcknowledgements(event -> true);
        OpenDevices.Use used = device;
        if (used != null) {
            used.release();
        }
    }

    // ---- checks

    ReentrantLock lock() {
        return lock;
    }

    boolean isClosed() {
        return closed;
    }

    boolean isDatagram() {
        return queuePairType == QueuePairType.UNRELIABLE_DATAGRAM;
    }

    /** Runs a call of the application. */
    void locked(String operation, Runnable action) {
        lock.lock();
        try {
            requireOpen(operation);
            action.run();
        } finally {
            lock.unlock();
        }
    }

    void requireOpen(String operation) {
        if (closed) {
            throw new ClosedException(operation, "the identifier is closed", "");
        }
        manager.requireOpen(operation);
    }

    /** Opens and returns the identifier's device. */
    OpenDevices.Use deviceUse(String operation) {
        lock.lock();
        try {
            return requireDevice(operation);
        } finally {
            lock.unlock();
        }
    }

    /** Opens and returns the identifier's device. The caller holds the lock. */
    OpenDevices.Use requireDevice(String operation) {
        OpenDevices.Use use = device;
        if (use == null) {
            Device chosen = binding.required(operation, RESOLVE_FIRST).device();
            if (chosen == null || closed) {
                throw invalid(operation, this + " has no device", RESOLVE_FIRST);
            }
            use = manager.openDevices().use(chosen);
            device = use;
        }
        return use;
    }

    static void requireRange(String operation, String name, int value, int limit) {
        if (value < 0 || value > limit) {
            throw invalid(operation, "the " + name + " is " + value + ", must be 0 to " + limit, "");
        }
    }

    static RdmaException invalid(String operation, String details, String hint) {
        return new RdmaException(operation, Errno.EINVAL, details, hint);
    }
}
