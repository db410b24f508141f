package io.rdma4j.cm;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An identifier of the connection manager: what a socket is to TCP. C: {@code struct rdma_cm_id}. Thread safe.
 *
 * <p>It is made by {@link EventChannel#createId}, and then its calls return at once and their results are events of the
 * channel; or by {@link #create}, and then it is <em>synchronous</em>: {@link #resolveAddress}, {@link #resolveRoute},
 * {@link #connect}, {@link #accept} and {@link #disconnect} wait for their event, leave it in {@link #event}, and throw
 * if its status is not 0.
 *
 * <p>Every call throws {@link RdmaException} with {@code EINVAL} if the identifier's state does not allow it; its message
 * names the state.
 */
public final class CmId implements AutoCloseable {
    private static final String RESOLVE_FIRST = "Bind or resolve an address first";

    private final PortSpace portSpace;
    private final AcknowledgementCount count = new AcknowledgementCount();
    private final ReentrantLock lock = new ReentrantLock();
    private final ProviderBinding binding;
    private volatile EventChannel channel;
    private volatile boolean synchronous;
    private volatile @Nullable Object context;
    private volatile @Nullable CmEvent event;
    private volatile @Nullable IdQueuePair queuePair;
    private OpenDevices.@Nullable Use device;
    private int responderResources;
    private int initiatorDepth;
    private boolean connectFailed;
    private boolean closed;

    CmId(EventChannel channel, boolean synchronous, PortSpace portSpace, @Nullable Object context) {
        this.channel = channel;
        this.synchronous = synchronous;
        this.portSpace = portSpace;
        this.context = context;
        this.binding = new ProviderBinding(portSpace, new Sink());
        channel.attach();
    }

    /** The identifier of a connection request; it reports to the listener's channel until the request is taken. */
    private CmId(CmId listener, EventChannel channel, ProviderCmId child) {
        this.channel = channel;
        this.portSpace = listener.portSpace;
        this.context = listener.context;
        this.binding = new ProviderBinding(portSpace, new Sink(), child);
        channel.attach();
    }

    /**
     * Makes a synchronous identifier. C: {@code rdma_create_id} without a channel.
     *
     * @param portSpace the kind of service
     * @param context anything that the application wants to find again
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one
     */
    public static CmId create(PortSpace portSpace, @Nullable Object context) {
        Providers.requireDevices("rdma_create_id");
        return new CmId(EventChannel.ofSynchronousId(), true, portSpace, context);
    }

    // ---- addresses and route

    /**
     * Binds to a local address and port. C: {@code rdma_bind_addr}.
     *
     * @param local an address of this host, or a wildcard for all; port 0 takes a free one, see {@link #sourcePort}. A
     *     link-local IPv6 address needs its scope
     * @throws RdmaException {@code ENODEV} if no device has the address; {@code EADDRINUSE} if the port is taken at it;
     *     {@code EADDRNOTAVAIL} if the port is taken and one of the two addresses is a wildcard, or no port is free;
     *     {@code EACCES} for a port below 1024 without the privilege; {@code EINVAL} unless the identifier is idle
     */
    public void bindAddress(InetSocketAddress local) {
        locked("rdma_bind_addr", () -> binding.bind(local));
    }

    /**
     * Finds out which device and which address of this host lead to a destination. C: {@code rdma_resolve_addr}. Ends with
     * {@code ADDRESS_RESOLVED} or {@code ADDRESS_ERROR}.
     *
     * @param source local address to use, or null for the one that the operating system's routing chooses
     * @param destination the peer; a wildcard stands for the loopback address
     * @param timeout how long it may take
     * @throws RdmaException {@code ENETUNREACH} if there is no route; {@code ENODEV} if {@code source} belongs to no
     *     device; {@code EINVAL} if the families differ; synchronous also the failures of the event
     */
    public void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination, Duration timeout) {
        locked("rdma_resolve_addr", () -> binding.resolveAddress(source, destination, timeout));
        complete("rdma_resolve_addr");
    }

    /**
     * Finds the route to the destination. C: {@code rdma_resolve_route}. Ends with {@code ROUTE_RESOLVED} or {@code
     * ROUTE_ERROR}.
     *
     * @param timeout how long it may take
     */
    public void resolveRoute(Duration timeout) {
        locked("rdma_resolve_route", () -> binding.required("rdma_resolve_route", "Resolve the address first")
                .resolveRoute(timeout));
        complete("rdma_resolve_route");
    }

    // ---- queue pair

    /**
     * Makes the identifier's queue pair and takes it to the INIT state, so that receives can be posted. C: {@code
     * rdma_create_qp}.
     *
     * @param protectionDomain its domain, of this identifier's device; null for the device's default domain
     * @param attributes sizes and completion queues; queues left out are made, each with a channel
     * @return the queue pair, also at {@link #queuePair}
     * @throws RdmaException {@code EINVAL} if the identifier has no device yet or already a queue pair, or the domain is
     *     one of another device
     */
    public QueuePair createQueuePair(
            @Nullable ProtectionDomain protectionDomain, CmQueuePairAttributes attributes) {
        lock.lock();
        try {
            String operation = "rdma_create_qp";
            requireOpen(operation);
            ProviderCmId provider = binding.required(operation, RESOLVE_FIRST);
            OpenDevices.Use use = requireDevice(operation);
            if (queuePair != null) {
                throw invalid(operation, "the identifier already has a queue pair", "Destroy it first");
            }
            ProtectionDomain domain = protectionDomain == null ? use.defaultDomain() : protectionDomain;
            String name = use.context().device().name();
            if (!domain.context().device().name().equals(name)) {
                throw invalid(
                        operation,
                        "the protection domain belongs to " + domain.context().device().name()
                                + ", the identifier to " + name,
                        "Make the protection domain from the identifier's verbs()");
            }
            IdQueuePair made = IdQueuePair.create(this, provider, domain, attributes);
            queuePair = made;
            return made.queuePair();
        } finally {
            lock.unlock();
        }
    }

    /** {@link #createQueuePair(ProtectionDomain, CmQueuePairAttributes)} with given completion queues. */
    public QueuePair createQueuePair(
            @Nullable ProtectionDomain protectionDomain, QueuePairInitAttributes attributes) {
        return createQueuePair(protectionDomain, CmQueuePairAttributes.of(attributes));
    }

    /** Closes the queue pair and the completion queues made with it, if there are any. C: {@code rdma_destroy_qp}. */
    public void destroyQueuePair() {
        lock.lock();
        try {
            IdQueuePair old = queuePair;
            queuePair = null;
            if (old != null) {
                old.close();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * The attributes with which a queue pair of the application's own goes to the next state. C: {@code
     * rdma_init_qp_attr}.
     *
     * @param target INIT, READY_TO_RECEIVE or READY_TO_SEND
     * @throws RdmaException {@code EINVAL} if the identifier has no device, or for the ready states before the peer's
     *     message has arrived
     */
    public QueuePairAttributes initQueuePairAttributes(QueuePairState target) {
        return binding.required("rdma_init_qp_attr", RESOLVE_FIRST).initQueuePairAttributes(target);
    }

    // ---- connection

    /**
     * Takes connection requests: each is a {@code CONNECT_REQUEST} event. C: {@code rdma_listen}. An identifier that is
     * not bound is bound to all IPv4 addresses and a free port.
     *
     * @param backlog requests that may wait to be taken; 0, less, or more than 1024 stands for 1024. Requests beyond are
     *     not answered, so that the peer asks again
     */
    public void listen(int backlog) {
        locked("rdma_listen", () -> binding.listen(backlog));
    }

    /**
     * Takes the next connection request of a synchronous listener; waits for it. C: {@code rdma_get_request}.
     *
     * @return the identifier of the new connection, synchronous too, with the request as its {@link #event}
     * @throws RdmaException {@code EINVAL} if the identifier is not synchronous, {@code EINTR} if the thread was
     *     interrupted, else the status of the event that came instead
     */
    public CmId getRequest() {
        String operation = "rdma_get_request";
        if (!synchronous) {
            throw invalid(operation, "the identifier reports to an event channel", "Take its events there");
        }
        acknowledgeEvent();
        CmEvent request = awaitEvent(operation);
        if (request.type() != CmEvent.Type.CONNECT_REQUEST) {
            event = request;
            throw failure(operation, request);
        }
        request.id().event = request;
        return request.id();
    }

    /**
     * Asks the peer for a connection. C: {@code rdma_connect}. Ends with {@code ESTABLISHED} (or {@code CONNECT_RESPONSE}
     * without a queue pair of the identifier), {@code REJECTED}, {@code UNREACHABLE} or {@code CONNECT_ERROR}.
     *
     * @param parameters what to say; null stands for {@link ConnectionParameters#defaults}, and needs a queue pair
     * @throws RdmaException {@code EINVAL} if the route is not resolved, a depth is more than the device's, or the private
     *     data are longer than {@link ConnectionParameters#REQUEST_PRIVATE_DATA}; synchronous also {@code ECONNREFUSED} if
     *     the peer rejects, and {@code ETIMEDOUT} if it is silent
     */
    public void connect(@Nullable ConnectionParameters parameters) {
        String operation = "rdma_connect";
        locked(operation, () -> {
            ProviderCmId provider = binding.required(operation, "Resolve address and route first");
            DeviceAttributes limits = requireParameters(operation, parameters);
            ConnectionParameters said = parameters == null ? ConnectionParameters.defaults() : parameters;
            responderResources = said.responderResources() == ConnectionParameters.DEVICE_MAXIMUM
                    ? limits.maxReadAtomicPerQueuePair() & 0xff
                    : said.responderResources();
            initiatorDepth = said.initiatorDepth() == ConnectionParameters.DEVICE_MAXIMUM
                    ? limits.maxInitiatedReadAtomicPerQueuePair() & 0xff
                    : said.initiatorDepth();
            provider.connect(ofOwnQueuePair(said.withDepths(responderResources, initiatorDepth)));
        });
        complete(operation);
    }

    /**
     * Accepts a connection request: brings the queue pair to ready-to-send and answers. C: {@code rdma_accept}. Data may
     * arrive before {@code ESTABLISHED}; ends with that, or {@code UNREACHABLE} or {@code REJECTED}.
     *
     * @param parameters what to say; null, and a depth of {@link ConnectionParameters#DEVICE_MAXIMUM}, stand for what the
     *     peer asked for within what the device can. Without a queue pair of the identifier it must not be null
     * @throws RdmaException {@code EINVAL} if there is no request, a depth is more than the device's, or the private data
     *     are longer than {@link ConnectionParameters#REPLY_PRIVATE_DATA}
     */
    public void accept(@Nullable ConnectionParameters parameters) {
        String operation = "rdma_accept";
        locked(operation, () -> {
            ProviderCmId provider = binding.required(operation, "Accept the identifier of a CONNECT_REQUEST");
            DeviceAttributes limits = requireParameters(operation, parameters);
            ConnectionParameters said = parameters == null ? ConnectionParameters.defaults() : parameters;
            responderResources = said.responderResources() == ConnectionParameters.DEVICE_MAXIMUM
                    ? Math.min(responderResources, limits.maxReadAtomicPerQueuePair() & 0xff)
                    : said.responderResources();
            initiatorDepth = said.initiatorDepth() == ConnectionParameters.DEVICE_MAXIMUM
                    ? Math.min(initiatorDepth, limits.maxInitiatedReadAtomicPerQueuePair() & 0xff)
                    : said.initiatorDepth();
            acceptWith(provider, said.withDepths(responderResources, initiatorDepth));
        });
        complete(operation);
    }

    private void acceptWith(ProviderCmId provider, ConnectionParameters said) {
        IdQueuePair own = queuePair;
        if (own != null) {
            own.toReadyToSend(provider, responderResources, initiatorDepth);
        }
        try {
            provider.accept(ofOwnQueuePair(said));
        } catch (RdmaException refused) {
            if (own != null) {
                own.toError();
            }
            throw refused;
        }
    }

    private ConnectionParameters ofOwnQueuePair(ConnectionParameters said) {
        IdQueuePair own = queuePair;
        return own == null ? said : said.withQueuePairNumber(own.queuePair().number());
    }

    /**
     * Rejects a connection request, or the peer's acceptance. C: {@code rdma_reject}. The peer gets {@code REJECTED} with
     * reason 28.
     *
     * @param privateData at most {@link ConnectionParameters#REJECT_PRIVATE_DATA} bytes
     */
    public void reject(byte[] privateData) {
        locked("rdma_reject", () -> binding.required("rdma_reject", "Reject the identifier of a CONNECT_REQUEST")
                .reject(privateData));
    }

    /**
     * Active side without a queue pair of the identifier: confirms the peer's acceptance after {@code CONNECT_RESPONSE},
     * when the application's queue pair is ready to send. C: {@code rdma_establish}. No event follows here.
     *
     * @throws RdmaException {@code EINVAL} if the identifier has a queue pair: then taking the event has done this
     */
    public void establish() {
        locked("rdma_establish", () -> {
            if (queuePair != null) {
                throw invalid("rdma_establish", "the identifier has a queue pair and establishes by itself", "");
            }
            binding.required("rdma_establish", RESOLVE_FIRST).establish();
        });
    }

    /**
     * Tells that data arrived on the queue pair of a connection that waits for the peer's confirmation; the connection is
     * established then. C: {@code rdma_notify} with {@code IBV_EVENT_COMM_EST}.
     *
     * @throws RdmaException {@code EISCONN} if it is established already, which may be ignored
     */
    public void notifyCommunicationEstablished() {
        locked("rdma_notify", () -> binding.required("rdma_notify", RESOLVE_FIRST).notifyCommunicationEstablished());
    }

    /**
     * Disconnects, or answers the peer's disconnection: the queue pair goes to the error state, and what is posted is
     * flushed. C: {@code rdma_disconnect}. Both sides get one {@code DISCONNECTED}, later {@code TIMEWAIT_EXIT}.
     *
     * @throws RdmaException {@code EINVAL} if there never was a connection
     */
    public void disconnect() {
        locked("rdma_disconnect", () -> {
            ProviderCmId provider = binding.required("rdma_disconnect", "Connect first");
            requireDevice("rdma_disconnect");
            IdQueuePair own = queuePair;
            if (own != null) {
                own.toError();
            }
            provider.disconnect();
        });
        complete("rdma_disconnect");
    }

    // ---- options

    /**
     * Sets the IPv4 type of service or IPv6 traffic class of the connection's packets. C: {@code rdma_set_option} with
     * {@code RDMA_OPTION_ID_TOS}.
     *
     * @param typeOfService 0 to 255
     */
    public void setTypeOfService(int typeOfService) {
        requireRange("type of service", typeOfService, 255);
        locked(SET_OPTION, () -> binding.option(id -> id.setTypeOfService(typeOfService)));
    }

    private static final String SET_OPTION = "rdma_set_option";

    /**
     * Sets whether the port may be bound by several identifiers that all allow it, of which at most one listens. C: {@code
     * RDMA_OPTION_ID_REUSEADDR}. May be set at any time, but taken back only while idle.
     */
    public void setReuseAddress(boolean reuseAddress) {
        locked(SET_OPTION, () -> binding.option(id -> id.setReuseAddress(reuseAddress)));
    }

    /**
     * Sets whether an IPv6 wildcard leaves IPv4 alone; without it a listener on {@code ::} takes IPv4 too. C: {@code
     * RDMA_OPTION_ID_AFONLY}. Only before listening.
     */
    public void setIpv6Only(boolean ipv6Only) {
        locked(SET_OPTION, () -> binding.option(id -> id.setIpv6Only(ipv6Only)));
    }

    /**
     * Sets the acknowledgement time-out of the connection, 4.096 µs × 2<sup>n</sup>, in place of 19 (2.1 s). C: {@code
     * RDMA_OPTION_ID_ACK_TIMEOUT}. Counts if set before connecting.
     *
     * @param exponent 0 to 31; 0 waits for ever
     */
    public void setAckTimeout(int exponent) {
        requireRange("acknowledgement time-out exponent", exponent, 31);
        locked(SET_OPTION, () -> binding.option(id -> id.setAckTimeout(exponent)));
    }

    private static void requireRange(String name, int value, int limit) {
        if (value < 0 || value > limit) {
            throw invalid(SET_OPTION, "the " + name + " is " + value + ", must be 0 to " + limit, "");
        }
    }

    /**
     * Moves the identifier with its events to another channel; waits until the events already taken are acknowledged. C:
     * {@code rdma_migrate_id}.
     *
     * @param target the channel, or null to make the identifier synchronous
     * @throws RdmaException {@code EINVAL} if {@code target} is null and the identifier is synchronous already; {@code
     *     EINTR} if the thread was interrupted while it waited
     */
    public void migrate(@Nullable EventChannel target) {
        boolean wasSynchronous = synchronous;
        if (target == null && wasSynchronous) {
            throw invalid("rdma_migrate_id", "the identifier is synchronous already", "");
        }
        EventChannel old = channel;
        moveTo(old, target);
        if (wasSynchronous) {
            acknowledgeEvent();
        }
        if (!count.awaitAll()) {
            throw new RdmaException("rdma_migrate_id", Errno.EINTR, "events are not acknowledged yet", "");
        }
        if (wasSynchronous) {
            old.close();
        }
    }

    private void moveTo(EventChannel old, @Nullable EventChannel target) {
        EventChannel next = target == null ? EventChannel.ofSynchronousId() : target;
        if (next != old) {
            old.moveTo(next, this, () -> {
                channel = next;
                synchronous = target == null;
            });
        }
    }

    // ---- what it has

    /** Local address and port, or null while not bound. C: {@code rdma_get_local_addr}. */
    public @Nullable InetSocketAddress localAddress() {
        ProviderCmId provider = binding.first();
        return provider == null ? null : provider.localAddress();
    }

    /** The peer's address and port, or null while not known. C: {@code rdma_get_peer_addr}. */
    public @Nullable InetSocketAddress peerAddress() {
        ProviderCmId provider = binding.first();
        return provider == null ? null : provider.peerAddress();
    }

    /** Local port, 0 while not bound. C: {@code rdma_get_src_port}. */
    public int sourcePort() {
        InetSocketAddress local = localAddress();
        return local == null ? 0 : local.getPort();
    }

    /** The peer's port, 0 while not known. C: {@code rdma_get_dst_port}. */
    public int destinationPort() {
        InetSocketAddress peer = peerAddress();
        return peer == null ? 0 : peer.getPort();
    }

    /** Port space. */
    public PortSpace portSpace() {
        return portSpace;
    }

    /** Whether the identifier has a device: after binding to an address that is no wildcard, or resolving one. */
    public boolean hasDevice() {
        ProviderCmId provider = binding.first();
        return provider != null && provider.device() != null;
    }

    /**
     * The open device. It stays open for the life of the process. C: {@code id->verbs}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device, see {@link #hasDevice}
     */
    public DeviceContext verbs() {
        lock.lock();
        try {
            return requireDevice("rdma_cm_id.verbs").context();
        } finally {
            lock.unlock();
        }
    }

    /** The device's port, from 1; 0 while the identifier has no device. */
    public int portNumber() {
        ProviderCmId provider = binding.first();
        return provider == null ? 0 : provider.portNumber();
    }

    /** The identifier's queue pair, or null. */
    public @Nullable QueuePair queuePair() {
        IdQueuePair own = queuePair;
        return own == null ? null : own.queuePair();
    }

    /**
     * The queue pair's domain, else the default domain of the device, which lives as long as any identifier uses it. C:
     * {@code id->pd}.
     *
     * @throws RdmaException {@code EINVAL} while the identifier has no device
     */
    public ProtectionDomain protectionDomain() {
        lock.lock();
        try {
            IdQueuePair own = queuePair;
            return own == null
                    ? requireDevice("rdma_cm_id.pd").defaultDomain()
                    : own.queuePair().protectionDomain();
        } finally {
            lock.unlock();
        }
    }

    /** Where the queue pair's send work requests are reported, or null without a queue pair. */
    public @Nullable CompletionQueue sendCompletions() {
        IdQueuePair own = queuePair;
        return own == null ? null : own.queuePair().sendCompletions();
    }

    /** Where the queue pair's receives are reported, or null without a queue pair. */
    public @Nullable CompletionQueue receiveCompletions() {
        IdQueuePair own = queuePair;
        return own == null ? null : own.queuePair().receiveCompletions();
    }

    /** The channel made for {@link #sendCompletions}, or null if the application gave the queue. */
    public @Nullable CompletionChannel sendCompletionChannel() {
        IdQueuePair own = queuePair;
        return own == null ? null : own.sendChannel();
    }

    /** The channel made for {@link #receiveCompletions}, or null if the application gave the queue. */
    public @Nullable CompletionChannel receiveCompletionChannel() {
        IdQueuePair own = queuePair;
        return own == null ? null : own.receiveChannel();
    }

    /** The channel of its events, or null if the identifier is synchronous. */
    public @Nullable EventChannel channel() {
        return synchronous ? null : channel;
    }

    /** What the application left here. */
    public @Nullable Object context() {
        return context;
    }

    /** Leaves something here for the application. */
    public void setContext(@Nullable Object value) {
        context = value;
    }

    /** Synchronous: the event of the last call that waited for one, until the next such call; else null. */
    public @Nullable CmEvent event() {
        return event;
    }

    /**
     * Closes the identifier with its queue pair; waits until all its events are acknowledged, so a thread must not close
     * it while it holds one. C: {@code rdma_destroy_id}. A peer is told by what the state asks for: an unanswered request
     * is rejected, an established connection disconnected. If the thread is interrupted the wait ends and its flag stays
     * set. Closing twice does nothing.
     */
    @Override
    public void close() {
        OpenDevices.Use used;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            used = device;
            destroyQueuePair();
            binding.close();
        } finally {
            lock.unlock();
        }
        for (EventChannel.Pending pending : channel.detach(this)) {
            if (pending.id() != this) {
                pending.id().close(); // a request that nobody took
            }
        }
        acknowledgeEvent();
        count.awaitAll();
        if (used != null) {
            used.release();
        }
    }

    @Override
    public String toString() {
        ProviderCmId provider = binding.first();
        return provider == null ? "an idle identifier" : provider.describe();
    }

    // ---- events

    /** Takes the provider's events to the channel that the identifier has at that moment. */
    private final class Sink implements CmEventSink {
        @Override
        public void onEvent(ProviderEvent providerEvent) {
            post(new EventChannel.Pending(CmId.this, CmId.this, providerEvent));
        }

        @Override
        public CmEventSink onConnectRequest(ProviderCmId child, ProviderEvent providerEvent) {
            CmId id = new CmId(CmId.this, channel, child);
            Sink sink = id.new Sink();
            post(new EventChannel.Pending(CmId.this, id, providerEvent));
            return sink;
        }

        private void post(EventChannel.Pending pending) {
            boolean queued = false;
            while (!queued) {
                queued = channel.offer(pending);
            }
        }
    }

    EventChannel channelNow() {
        return channel;
    }

    AcknowledgementCount count() {
        return count;
    }

    /** Does what an event asks of the library; returns the application's view of it, or null to swallow it. */
    @Nullable CmEvent process(EventChannel.Pending pending) {
        ProviderEvent raw = pending.event();
        return switch (raw.type()) {
            case CONNECT_REQUEST -> processRequest(pending.owner(), raw);
            case CONNECT_RESPONSE -> processResponse(raw);
            case REJECTED -> {
                if (connectFailed) {
                    yield null;
                }
                queuePairToError();
                yield eventOf(raw.type(), raw);
            }
            case DISCONNECTED -> connectFailed ? null : eventOf(raw.type(), raw);
            default -> eventOf(raw.type(), raw);
        };
    }

    private CmEvent eventOf(CmEvent.Type type, ProviderEvent raw) {
        return new CmEvent(type, raw.status(), this, null, raw.connection(), raw.explanation(), count);
    }

    private CmEvent processRequest(CmId listener, ProviderEvent raw) {
        lock.lock();
        try {
            responderResources = raw.connection().responderResources();
            initiatorDepth = raw.connection().initiatorDepth();
            context = listener.context;
            ProviderCmId provider = binding.first();
            if (provider != null) {
                provider.requestTaken();
            }
        } finally {
            lock.unlock();
        }
        if (listener.synchronous) {
            moveTo(channel, null);
        } else if (channel != listener.channel) {
            moveTo(channel, listener.channel);
        }
        return new CmEvent(
                raw.type(), raw.status(), this, listener, raw.connection(), raw.explanation(), listener.count);
    }

    private CmEvent processResponse(ProviderEvent raw) {
        lock.lock();
        try {
            IdQueuePair own = queuePair;
            ProviderCmId provider = binding.first();
            if (own == null || provider == null) {
                return eventOf(CmEvent.Type.CONNECT_RESPONSE, raw);
            }
            try {
                own.toReadyToSend(provider, ConnectionParameters.DEVICE_MAXIMUM, ConnectionParameters.DEVICE_MAXIMUM);
                provider.establish();
                return eventOf(CmEvent.Type.ESTABLISHED, raw);
            } catch (RdmaException failed) {
                connectFailed = true;
                own.toError();
                String text = "the peer accepted, but " + provider.describe() + " could not be made ready: "
                        + failed.getMessage();
                return eventOf(
                        CmEvent.Type.CONNECT_ERROR,
                        new ProviderEvent(
                                CmEvent.Type.CONNECT_ERROR, -failed.errno().number(), raw.connection(), text));
            }
        } finally {
            lock.unlock();
        }
    }

    private void queuePairToError() {
        lock.lock();
        try {
            IdQueuePair own = queuePair;
            if (own != null) {
                own.toError();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- synchronous mode

    private void complete(String operation) {
        if (!synchronous) {
            return;
        }
        acknowledgeEvent();
        CmEvent result = awaitEvent(operation);
        event = result;
        if (result.status() != 0) {
            throw failure(operation, result);
        }
    }

    private CmEvent awaitEvent(String operation) {
        CmEvent next = channel.await();
        if (next == null) {
            throw new RdmaException(operation, Errno.EINTR, toString(), "");
        }
        return next;
    }

    private void acknowledgeEvent() {
        CmEvent old = event;
        event = null;
        if (old != null) {
            old.acknowledge();
        }
    }

    private RdmaException failure(String operation, CmEvent result) {
        Errno errno = result.type() == CmEvent.Type.REJECTED
                ? Errno.ECONNREFUSED
                : result.status() == 0 ? Errno.EINVAL : Errno.of(result.status());
        String details = result.explanation().isEmpty()
                ? result.type().text() + " came, status " + result.status() + ": " + this
                : result.explanation();
        return new RdmaException(operation, errno, details, "");
    }

    // ---- checks

    private void locked(String operation, Runnable action) {
        lock.lock();
        try {
            requireOpen(operation);
            action.run();
        } finally {
            lock.unlock();
        }
    }

    private void requireOpen(String operation) {
        if (closed) {
            throw invalid(operation, "the identifier is closed", "");
        }
    }

    private OpenDevices.Use requireDevice(String operation) {
        OpenDevices.Use use = device;
        if (use == null) {
            Device chosen = binding.required(operation, RESOLVE_FIRST).device();
            if (chosen == null || closed) {
                throw invalid(operation, this + " has no device", RESOLVE_FIRST);
            }
            use = OpenDevices.use(chosen);
            device = use;
        }
        return use;
    }

    private DeviceAttributes requireParameters(String operation, @Nullable ConnectionParameters parameters) {
        if (parameters == null && queuePair == null) {
            throw invalid(
                    operation,
                    "there are no parameters, and no queue pair of the identifier",
                    "Create a queue pair, or give parameters with the number of one");
        }
        DeviceAttributes limits = requireDevice(operation).context().attributes();
        if (parameters != null) {
            requireDepth(
                    operation,
                    "responder resources",
                    parameters.responderResources(),
                    limits.maxReadAtomicPerQueuePair() & 0xff);
            requireDepth(
                    operation,
                    "initiator depth",
                    parameters.initiatorDepth(),
                    limits.maxInitiatedReadAtomicPerQueuePair() & 0xff);
        }
        return limits;
    }

    private static void requireDepth(String operation, String name, int value, int limit) {
        if (value != ConnectionParameters.DEVICE_MAXIMUM && value > limit) {
            throw invalid(
                    operation,
                    name + " of " + value + " is more than the device's " + limit,
                    "Use ConnectionParameters.DEVICE_MAXIMUM for as much as the device can");
        }
    }

    private static RdmaException invalid(String operation, String details, String hint) {
        return new RdmaException(operation, Errno.EINVAL, details, hint);
    }
}
