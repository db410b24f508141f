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
 * What is behind a {@link CmId}: its queues, depths, channel and last event, and what librdmacm does with them. Calls
 * of the application are serialised by a lock that no provider's thread takes.
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

    /** Of a connection request; its events wait in a channel of its own until the request is taken. */
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

    /** Serialises the calls of the application. */
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
            keep(operation, request);
            throw failure(operation, request);
        }
        request.id().core().keep(operation, request);
        EndpointCreation remembered = endpoint;
        if (remembered != null) {
            remembered.equip(request.id());
        }
        return request.id();
    }

    /** Has {@link #getRequest} make the queue pairs of the connections. */
    void remember(EndpointCreation passive) {
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
            old.end();
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
            queues.closeAll(); // what could not be closed then
            return;
        }
        if (synchronous) {
            channel.end();
        }
        IdQueues.inTurn(queues::stop, this::leaveProvider, queues::closeAll, this::leaveDevice);
    }

    private void leaveProvider() {
        lock.lock();
        try {
            binding.close();
        } finally {
            lock.unlock();
        }
        for (EventChannel.Pending pending : channel.detach(id)) {
            if (!pending.id().equals(id)) {
                pending.id().close(); // a request that nobody took
            }
        }
    }

    private void leaveDevice() {
        acknowledgeEvent();
        count.awaitAll();
        OpenDevices.Use used = device;
        if (used != null) {
            used.release();
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

    private @Nullable CmEvent processRequest(IdCore listener, ProviderEvent raw) {
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
        return joins(listener) ? CmEvent.ofRequest(raw, id, listener.id, listener.count) : null;
    }

    /** Reports where the listener does from now on; not if the listener is closed just now, and its channel. */
    private boolean joins(IdCore listener) {
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
            IdQueuePair own = queuePair();
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
            IdQueuePair own = queuePair();
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
        if (synchronous) {
            var _ = awaitSuccess(operation);
        }
    }

    private CmEvent awaitSuccess(String operation) {
        acknowledgeEvent();
        CmEvent result = awaitEvent(operation);
        keep(operation, result);
        if (result.status() != 0) {
            throw failure(operation, result);
        }
        return result;
    }

    /**
     * As {@link #complete}, for what makes a connection. Unlike librdmacm's, it does not succeed with the news of the
     * connection's end: nothing would tell of that again.
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

    /** Acknowledges the event at hand of a synchronous identifier. */
    void acknowledgeSynchronously() {
        if (synchronous) {
            acknowledgeEvent();
        }
    }

    private CmEvent awaitEvent(String operation) {
        EventChannel from = channel;
        CmEvent next = from.await();
        if (next != null) {
            return next;
        }
        if (closed) {
            throw closedMeanwhile(operation);
        }
        if (from != channel) {
            throw invalid(operation, id + " was moved to an event channel meanwhile", "Take its events there");
        }
        throw new RdmaException(operation, Errno.EINTR, id.toString(), "");
    }

    private RdmaException closedMeanwhile(String operation) {
        return invalid(operation, "the identifier is closed: " + id, "");
    }

    /** Leaves an event at the identifier, to be acknowledged by its next call, or by its close. */
    private void keep(String operation, CmEvent result) {
        CmEvent old = result;
        boolean isKept;
        lock.lock();
        try {
            isKept = !closed;
            if (isKept) {
                old = event;
                event = result;
            }
        } finally {
            lock.unlock();
        }
        if (old != null) {
            old.acknowledge();
        }
        if (!isKept) {
            throw closedMeanwhile(operation);
        }
    }

    /** Acknowledges the event that a synchronous call has left, if there is one. */
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

    void requireOpen(String operation) {
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
