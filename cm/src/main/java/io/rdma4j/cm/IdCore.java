package io.rdma4j.cm;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What is behind a {@link CmId}: its queue pair, depths, channel and last event, and what librdmacm does with them. Calls
 * of the application are serialised by a lock that no provider's thread takes.
 */
final class IdCore {
    static final String RESOLVE_FIRST = "Bind or resolve an address first";

    private final CmId id;
    private final PortSpace portSpace;
    private final QueuePairType queuePairType;
    private final AcknowledgementCount count = new AcknowledgementCount();
    private final ReentrantLock lock = new ReentrantLock();
    private final ProviderBinding binding;
    private final MulticastMemberships memberships = new MulticastMemberships(this);
    private final IdConnection connection = new IdConnection(this);
    private final IdLookup lookup = new IdLookup(this);
    private volatile EventChannel channel;
    private volatile boolean synchronous;
    volatile @Nullable Object context;
    private volatile @Nullable CmEvent event;
    private volatile @Nullable IdQueuePair queuePair;
    private volatile @Nullable IdSharedReceives sharedReceives;
    private OpenDevices.@Nullable Use device;
    private boolean connectFailed;
    private volatile @Nullable Endpoint endpoint;
    private boolean closed;

    IdCore(
            CmId id,
            EventChannel channel,
            boolean synchronous,
            PortSpace portSpace,
            QueuePairType queuePairType,
            @Nullable Object context) {
        if (portSpace != PortSpace.IB && queuePairType != portSpace.queuePairType()) {
            throw invalid(
                    "rdma_create_id",
                    "identifiers of the port space " + portSpace + " are of the type " + portSpace.queuePairType()
                            + ", not " + queuePairType,
                    "Use the port space IB, which takes every type");
        }
        this.id = id;
        this.channel = channel;
        this.synchronous = synchronous;
        this.portSpace = portSpace;
        this.queuePairType = queuePairType;
        this.context = context;
        this.binding = new ProviderBinding(portSpace, queuePairType, new Sink());
        channel.attach();
    }

    /** Of a connection request; it reports to the listener's channel until the request is taken. */
    IdCore(CmId id, IdCore listener, ProviderCmId child) {
        this.id = id;
        this.channel = listener.channel;
        this.portSpace = listener.portSpace;
        this.queuePairType = listener.queuePairType;
        this.context = listener.context;
        this.binding = new ProviderBinding(portSpace, queuePairType, new Sink(), child);
        channel.attach();
    }

    CmId id() {
        return id;
    }

    PortSpace portSpace() {
        return portSpace;
    }

    QueuePairType queuePairType() {
        return queuePairType;
    }

    boolean isDatagram() {
        return queuePairType == QueuePairType.UNRELIABLE_DATAGRAM;
    }

    ProviderBinding binding() {
        return binding;
    }

    EventChannel channel() {
        return channel;
    }

    boolean isSynchronous() {
        return synchronous;
    }

    @Nullable
    CmEvent event() {
        return event;
    }

    @Nullable
    IdQueuePair queuePair() {
        return queuePair;
    }

    IdConnection connection() {
        return connection;
    }

    IdLookup lookup() {
        return lookup;
    }

    MulticastMemberships memberships() {
        return memberships;
    }

    AcknowledgementCount count() {
        return count;
    }

    // ---- queue pair

    QueuePair createQueuePair(@Nullable ProtectionDomain protectionDomain, CmQueuePairAttributes attributes) {
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
                        "the protection domain belongs to "
                                + domain.context().device().name() + ", the identifier to " + name,
                        "Make the protection domain from the identifier's verbs()");
            }
            IdQueuePair made = IdQueuePair.create(id, provider, domain, completed(attributes, use));
            queuePair = made;
            return made.queuePair();
        } finally {
            lock.unlock();
        }
    }

    /** Puts in what the identifier has where the application gave nothing. */
    private CmQueuePairAttributes completed(CmQueuePairAttributes attributes, OpenDevices.Use use) {
        IdSharedReceives own = sharedReceives;
        return switch (queuePairType) {
            case XRC_RECEIVE ->
                attributes.xrcDomain() == null ? attributes.xrcDomain(use.defaultXrcDomain()) : attributes;
            case XRC_SEND -> attributes; // it receives nothing
            default ->
                attributes.sharedReceiveQueue() == null && own != null
                        ? attributes.sharedReceiveQueue(own.queue())
                        : attributes;
        };
    }

    void destroyQueuePair() {
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

    // ---- shared receive queue

    SharedReceiveQueue createSharedReceiveQueue(
            @Nullable ProtectionDomain protectionDomain, SharedReceiveQueueInitAttributes attributes) {
        lock.lock();
        try {
            String operation = "rdma_create_srq";
            requireOpen(operation);
            OpenDevices.Use use = requireDevice(operation);
            if (sharedReceives != null) {
                throw invalid(operation, "the identifier already has a shared receive queue", "Destroy it first");
            }
            IdSharedReceives made = IdSharedReceives.create(id, use, protectionDomain, attributes);
            sharedReceives = made;
            return made.queue();
        } finally {
            lock.unlock();
        }
    }

    @Nullable
    SharedReceiveQueue sharedReceiveQueue() {
        IdSharedReceives own = sharedReceives;
        return own == null ? null : own.queue();
    }

    /** Where receives are reported: those of the shared queue of extended connections, else the queue pair's. */
    @Nullable
    CompletionQueue receiveCompletions() {
        IdSharedReceives shared = sharedReceives;
        if (shared != null && shared.completions() != null) {
            return shared.completions();
        }
        IdQueuePair own = queuePair;
        return own == null ? null : own.queuePair().receiveCompletions();
    }

    /** The channel made for {@link #receiveCompletions}. */
    @Nullable
    CompletionChannel receiveChannel() {
        IdSharedReceives shared = sharedReceives;
        if (shared != null && shared.completions() != null) {
            return shared.channel();
        }
        IdQueuePair own = queuePair;
        return own == null ? null : own.receiveChannel();
    }

    void destroySharedReceiveQueue() {
        lock.lock();
        try {
            IdSharedReceives old = sharedReceives;
            if (old != null) {
                old.close();
            }
            sharedReceives = null;
        } finally {
            lock.unlock();
        }
    }

    // ---- requests

    CmId getRequest() {
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
        request.id().core().event = request;
        Endpoint remembered = endpoint;
        if (remembered != null) {
            remembered.equip(request.id());
        }
        return request.id();
    }

    /** Has {@link #getRequest} make the queue pairs of the connections. */
    void remember(Endpoint passive) {
        endpoint = passive;
    }

    // ---- channel and end

    void migrate(@Nullable EventChannel target) {
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
            old.moveTo(next, id, () -> {
                channel = next;
                synchronous = target == null;
            });
        }
    }

    void close() {
        OpenDevices.Use used;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            used = device;
            destroyQueuePair();
            leaveSharedReceiveQueue();
            binding.close();
        } finally {
            lock.unlock();
        }
        for (EventChannel.Pending pending : channel.detach(id)) {
            if (!pending.id().equals(id)) {
                pending.id().close(); // a request that nobody took
            }
        }
        acknowledgeEvent();
        count.awaitAll();
        if (used != null) {
            used.release();
        }
    }

    /** Closes the shared receive queue, unless queue pairs of other identifiers use it: then it is the application's. */
    private void leaveSharedReceiveQueue() {
        try {
            destroySharedReceiveQueue();
        } catch (RdmaException stillUsed) {
            sharedReceives = null;
        }
    }

    // ---- events

    /** Takes the provider's events to the channel that the identifier has at that moment. */
    private final class Sink implements CmEventSink {
        @Override
        public void onEvent(ProviderEvent providerEvent) {
            post(new EventChannel.Pending(id, id, providerEvent));
        }

        @Override
        public CmEventSink onConnectRequest(ProviderCmId child, ProviderEvent providerEvent) {
            CmId made = new CmId(IdCore.this, child);
            post(new EventChannel.Pending(id, made, providerEvent));
            return made.core().sink();
        }

        private void post(EventChannel.Pending pending) {
            boolean queued = false;
            while (!queued) {
                queued = channel.offer(pending);
            }
        }
    }

    /** Where the provider's events go. */
    CmEventSink sink() {
        return new Sink();
    }

    /** Does what an event asks of the library; returns the application's view of it, or null to swallow it. */
    @Nullable
    CmEvent process(EventChannel.Pending pending) {
        ProviderEvent raw = pending.event();
        return switch (raw.type()) {
            case CONNECT_REQUEST -> processRequest(pending.owner().core(), raw);
            case CONNECT_RESPONSE -> processResponse(raw);
            case REJECTED -> {
                if (connectFailed) {
                    yield null;
                }
                queuePairToError();
                yield eventOf(raw.type(), raw);
            }
            case MULTICAST_JOIN, MULTICAST_ERROR -> processMulticast(raw);
            case DISCONNECTED -> connectFailed ? null : eventOf(raw.type(), raw);
            default -> eventOf(raw.type(), raw);
        };
    }

    private CmEvent eventOf(CmEvent.Type type, ProviderEvent raw) {
        return CmEvent.of(type, raw, id, count);
    }

    private CmEvent processRequest(IdCore listener, ProviderEvent raw) {
        lock.lock();
        try {
            connection.asked(raw);
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
        return CmEvent.ofRequest(raw, id, listener.id, listener.count);
    }

    private @Nullable CmEvent processMulticast(ProviderEvent raw) {
        lock.lock();
        try {
            return memberships.process(id, raw);
        } finally {
            lock.unlock();
        }
    }

    private CmEvent processResponse(ProviderEvent raw) {
        lock.lock();
        try {
            connection.answered(raw);
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

    /** As librdmacm, without regard to whether it works: the application may have closed the queue pair. */
    private void queuePairToError() {
        lock.lock();
        try {
            IdQueuePair own = queuePair;
            if (own != null) {
                own.toError();
            }
        } catch (RdmaException closedAlready) {
            // What matters is the event.
            return;
        } finally {
            lock.unlock();
        }
    }

    // ---- synchronous mode

    void complete(String operation) {
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

    /**
     * As {@link #complete}, for what makes a connection. Unlike librdmacm's, it does not succeed with the news of the
     * connection's end: nothing would tell of that again.
     */
    void completeConnecting(String operation) {
        complete(operation);
        CmEvent result = event;
        if (synchronous && result != null && result.type() == CmEvent.Type.DISCONNECTED) {
            throw failure(operation, result);
        }
    }

    /** Acknowledges the event at hand of a synchronous identifier. */
    void acknowledgeSynchronously() {
        if (synchronous) {
            acknowledgeEvent();
        }
    }

    private CmEvent awaitEvent(String operation) {
        CmEvent next = channel.await();
        if (next == null) {
            throw new RdmaException(operation, Errno.EINTR, id.toString(), "");
        }
        return next;
    }

    /** Acknowledges the event that a synchronous call has left, if there is one. */
    void acknowledgeEvent() {
        CmEvent old = event;
        event = null;
        if (old != null) {
            old.acknowledge();
        }
    }

    private RdmaException failure(String operation, CmEvent result) {
        Errno errno = switch (result.type()) {
            case REJECTED -> Errno.ECONNREFUSED;
            case DISCONNECTED -> result.status() == 0 ? Errno.ECONNRESET : Errno.of(result.status());
            default -> result.status() == 0 ? Errno.EINVAL : Errno.of(result.status());
        };
        String details = result.explanation().isEmpty()
                ? result.type().text() + " came, status " + result.status() + ": " + id
                : result.explanation();
        return new RdmaException(operation, errno, details, "");
    }

    // ---- checks

    void locked(String operation, Runnable action) {
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

    /** The identifier's device, opened. */
    OpenDevices.Use deviceUse(String operation) {
        lock.lock();
        try {
            return requireDevice(operation);
        } finally {
            lock.unlock();
        }
    }

    OpenDevices.Use requireDevice(String operation) {
        OpenDevices.Use use = device;
        if (use == null) {
            Device chosen = binding.required(operation, RESOLVE_FIRST).device();
            if (chosen == null || closed) {
                throw invalid(operation, id + " has no device", RESOLVE_FIRST);
            }
            use = OpenDevices.use(chosen);
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
