package io.rdma4j.cm;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of a {@link CmId}: its queues, depths, channel and last event, and the protocol work of librdmacm.
 * A lock that no provider thread takes serialises the application's calls.
 */
final class IdCore {
    static final String RESOLVE_FIRST = "Bind or resolve an address first";

    private final CmId id;
    private final ConnectionManager manager;
    private final PortSpace portSpace;
    private final QueuePairType queuePairType;
    private final AcknowledgementCount count = new AcknowledgementCount();
    private final ReentrantLock lock = new ReentrantLock();
    private final ProviderBinding binding;
    private final MulticastMemberships memberships = new MulticastMemberships(this);
    private final IdConnection connection = new IdConnection(this);
    private final IdLookup lookup = new IdLookup(this);
    private final IdQueues queues = new IdQueues(this);
    private volatile EventChannel channel;
    private volatile boolean synchronous;
    volatile @Nullable Object context;
    private volatile @Nullable CmEvent event;
    private OpenDevices.@Nullable Use device;

    /** True if the peer accepted, but the connection could not be established; guarded by the lock. */
    private boolean connectFailed;

    private volatile @Nullable EndpointCreation endpoint;
    private volatile boolean closed;

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
        this.manager = channel.connectionManager();
        this.synchronous = synchronous;
        this.portSpace = portSpace;
        this.queuePairType = queuePairType;
        this.context = context;
        this.binding = new ProviderBinding(manager.providers(), portSpace, queuePairType, new Sink());
        channel.attach();
    }

    /**
     * Creates the identifier of a connection request. Its events are queued in a separate channel until the request is
     * taken.
     */
    IdCore(CmId id, IdCore listener, ProviderCmId child) {
        this.id = id;
        this.manager = listener.manager;
        this.channel = new EventChannel(manager);
        this.portSpace = listener.portSpace;
        this.queuePairType = listener.queuePairType;
        this.context = listener.context;
        this.binding = new ProviderBinding(manager.providers(), portSpace, queuePairType, new Sink(), child);
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
        return queues.queuePair();
    }

    IdQueues queues() {
        return queues;
    }

    /** Returns the lock that serialises the application's calls. */
    ReentrantLock lock() {
        return lock;
    }

    boolean isClosed() {
        return closed;
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

    // ---- requests

    CmId getRequest() {
        String operation = "rdma_get_request";
        if (!synchronous) {
            throw invalid(operation, "the identifier reports to an event channel", "Take its events there");
        }
        acknowledgeEvent();
        CmEvent request = awaitEvent(operation);
        if (request.type() != CmEvent.Type.CONNECT_REQUEST) {
            storeEvent(operation, request);
            throw failure(operation, request);
        }
        request.id().core().storeEvent(operation, request);
        EndpointCreation creation = endpoint;
        if (creation != null) {
            creation.createQueuePair(request.id());
        }
        return request.id();
    }

    /** Sets the endpoint with which {@link #getRequest} creates the queue pairs of connections. */
    void setEndpoint(EndpointCreation passive) {
        endpoint = passive;
    }

    // ---- channel and end

    void migrate(@Nullable EventChannel target) {
        String operation = "rdma_migrate_id";
        EventChannel old;
        boolean wasSynchronous;
        lock.lock();
        try {
            requireOpen(operation);
            wasSynchronous = synchronous;
            if (target == null && wasSynchronous) {
                throw invalid(operation, "the identifier is synchronous already", "");
            }
            old = channel;
            moveTo(old, target);
        } finally {
            lock.unlock();
        }
        if (wasSynchronous) {
            old.endWaits();
            acknowledgeEvent();
        }
        if (!count.awaitAll()) {
            throw new RdmaException(operation, Errno.EINTR, "events are not acknowledged yet", "");
        }
    }

    private void moveTo(EventChannel old, @Nullable EventChannel target) {
        EventChannel next = target == null ? new EventChannel(manager) : target;
        if (next != old) {
            old.moveTo(next, id, () -> {
                channel = next;
                synchronous = target == null;
            });
        }
    }

    void close() {
        boolean isFirst;
        lock.lock();
        try {
            isFirst = !closed;
            closed = true;
        } finally {
            lock.unlock();
        }
        if (!isFirst) {
            queues.closeAll(); // close what could not be closed before
            return;
        }
        if (synchronous) {
            channel.endWaits();
        }
        IdQueues.runAll(queues::stop, this::closeBinding, queues::closeAll, this::releaseDevice);
    }

    private void closeBinding() {
        lock.lock();
        try {
            binding.close();
        } finally {
            lock.unlock();
        }
        for (EventChannel.Pending pending : channel.detach(id)) {
            if (!pending.id().equals(id)) {
                pending.id().close(); // a request that was not taken
            }
        }
    }

    private void releaseDevice() {
        acknowledgeEvent();
        count.awaitAll();
        OpenDevices.Use used = device;
        if (used != null) {
            used.release();
        }
    }

    // ---- events

    /** Passes the provider's events to the channel that the identifier has when they arrive. */
    private final class Sink implements CmEventSink {
        @Override
        public void onEvent(ProviderEvent providerEvent) {
            post(new EventChannel.Pending(id, id, providerEvent));
        }

        @Override
        public CmEventSink onConnectRequest(ProviderCmId child, ProviderEvent providerEvent) {
            CmId created = new CmId(IdCore.this, child);
            post(new EventChannel.Pending(id, created, providerEvent));
            return created.core().sink();
        }

        private void post(EventChannel.Pending pending) {
            boolean queued = false;
            while (!queued) {
                queued = channel.offer(pending);
            }
        }
    }

    /** Returns the sink for the provider's events. */
    CmEventSink sink() {
        return new Sink();
    }

    /** Performs the library's part of an event. Returns the event for the application, or null to discard it. */
    @Nullable
    CmEvent process(EventChannel.Pending pending) {
        ProviderEvent providerEvent = pending.event();
        return switch (providerEvent.type()) {
            case CONNECT_REQUEST -> processRequest(pending.owner().core(), providerEvent);
            case CONNECT_RESPONSE -> processResponse(providerEvent);
            case REJECTED, DISCONNECTED -> processEnd(providerEvent);
            case MULTICAST_JOIN, MULTICAST_ERROR -> processMulticast(providerEvent);
            default -> eventOf(providerEvent.type(), providerEvent);
        };
    }

    private CmEvent eventOf(CmEvent.Type type, ProviderEvent providerEvent) {
        return CmEvent.of(type, providerEvent, id, count);
    }

    private @Nullable CmEvent processRequest(IdCore listener, ProviderEvent providerEvent) {
        lock.lock();
        try {
            connection.onRequest(providerEvent);
            context = listener.context;
            ProviderCmId provider = binding.first();
            if (provider != null) {
                provider.onRequestTaken();
            }
        } finally {
            lock.unlock();
        }
        return joinChannelOf(listener) ? CmEvent.ofRequest(providerEvent, id, listener.id, listener.count) : null;
    }

    /**
     * Moves to the listener's current channel. Returns false if that channel is closed, because the listener is being
     * closed.
     */
    private boolean joinChannelOf(IdCore listener) {
        listener.lock.lock();
        try {
            if (listener.synchronous) {
                synchronous = true;
            } else {
                moveTo(channel, listener.channel);
            }
            return true;
        } catch (RdmaException channelClosed) {
            close();
            return false;
        } finally {
            listener.lock.unlock();
        }
    }

    private @Nullable CmEvent processMulticast(ProviderEvent providerEvent) {
        lock.lock();
        try {
            return memberships.process(id, providerEvent);
        } finally {
            lock.unlock();
        }
    }

    private CmEvent processResponse(ProviderEvent providerEvent) {
        lock.lock();
        try {
            connection.onReply(providerEvent);
            IdQueuePair current = queuePair();
            ProviderCmId provider = binding.first();
            if (current == null || provider == null) {
                return eventOf(CmEvent.Type.CONNECT_RESPONSE, providerEvent);
            }
            try {
                current.toReadyToSend(
                        provider, ConnectionParameters.DEVICE_MAXIMUM, ConnectionParameters.DEVICE_MAXIMUM);
                provider.establish();
                return eventOf(CmEvent.Type.ESTABLISHED, providerEvent);
            } catch (RdmaException failed) {
                connectFailed = true;
                current.toError();
                String text = "the peer accepted, but " + provider.describe() + " could not be made ready: "
                        + failed.getMessage();
                return eventOf(
                        CmEvent.Type.CONNECT_ERROR,
                        new ProviderEvent(
                                CmEvent.Type.CONNECT_ERROR,
                                -failed.errno().number(),
                                providerEvent.connection(),
                                text));
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Processes the end of a connection. Returns null to discard the event, since the failure was reported before. The
     * lock lets another thread that processes the peer's reply finish first.
     */
    private @Nullable CmEvent processEnd(ProviderEvent providerEvent) {
        lock.lock();
        try {
            if (connectFailed) {
                return null;
            }
            if (providerEvent.type() == CmEvent.Type.REJECTED) {
                queuePairToError();
            }
            return eventOf(providerEvent.type(), providerEvent);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Moves the queue pair to the error state, under the lock. As in librdmacm, a failure is ignored: the application
     * may have closed the queue pair.
     */
    private void queuePairToError() {
        try {
            IdQueuePair current = queuePair();
            if (current != null) {
                current.toError();
            }
        } catch (RdmaException closedAlready) {
            // The event is delivered regardless.
            return;
        }
    }

    // ---- synchronous mode

    void complete(String operation) {
        if (synchronous) {
            var _ = awaitSuccess(operation);
        }
    }

    private CmEvent awaitSuccess(String operation) {
        acknowledgeEvent();
        CmEvent result = awaitEvent(operation);
        storeEvent(operation, result);
        if (result.status() != 0) {
            throw failure(operation, result);
        }
        return result;
    }

    /**
     * Waits like {@link #complete} for an event that establishes a connection. Unlike librdmacm, this fails if the
     * connection has already ended, since no later event would report that.
     */
    void completeConnecting(String operation) {
        if (!synchronous) {
            return;
        }
        CmEvent result = awaitSuccess(operation);
        if (result.type() == CmEvent.Type.DISCONNECTED) {
            throw failure(operation, result);
        }
    }

    /** Acknowledges the stored event of a synchronous identifier. */
    void acknowledgeSynchronously() {
        if (synchronous) {
            acknowledgeEvent();
        }
    }

    /** Waits for the end of the connection of a synchronous identifier. */
    void awaitDisconnect() {
        String operation = "rdma_get_cm_event";
        if (!synchronous) {
            throw invalid(operation, "the identifier reports to an event channel", "Await its events there");
        }
        CmEvent current = event;
        if (current != null && current.type() == CmEvent.Type.DISCONNECTED) {
            return;
        }
        acknowledgeEvent();
        CmEvent next = awaitEvent(operation);
        storeEvent(operation, next);
        if (next.type() != CmEvent.Type.DISCONNECTED) {
            throw failure(operation, next);
        }
    }

    private CmEvent awaitEvent(String operation) {
        EventChannel from = channel;
        CmEvent next = from.await();
        if (next != null) {
            return next;
        }
        if (closed) {
            throw closedException(operation);
        }
        if (from != channel) {
            throw invalid(operation, id + " was moved to an event channel meanwhile", "Take its events there");
        }
        throw new RdmaException(operation, Errno.EINTR, id.toString(), "");
    }

    private RdmaException closedException(String operation) {
        return invalid(operation, "the identifier is closed: " + id, "");
    }

    /** Stores an event in the identifier. The next call, or closing, acknowledges it. */
    private void storeEvent(String operation, CmEvent result) {
        CmEvent old = result;
        boolean isStored;
        lock.lock();
        try {
            isStored = !closed;
            if (isStored) {
                old = event;
                event = result;
            }
        } finally {
            lock.unlock();
        }
        if (old != null) {
            old.acknowledge();
        }
        if (!isStored) {
            throw closedException(operation);
        }
    }

    /** Acknowledges the stored event, if any. */
    void acknowledgeEvent() {
        CmEvent old;
        lock.lock();
        try {
            old = event;
            event = null;
        } finally {
            lock.unlock();
        }
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
                ? result.type().text() + " was received, status " + result.status() + ": " + id
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

    void requireOpen(String operation) {
        if (closed) {
            throw invalid(operation, "the identifier is closed", "");
        }
    }

    /** Returns the identifier's device, opened. */
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
