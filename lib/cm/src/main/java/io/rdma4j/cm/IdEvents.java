package io.rdma4j.cm;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The events of an identifier: their channel, the unacknowledged events, and the waits of a synchronous identifier.
 * Receives the provider's events.
 */
final class IdEvents implements CmEventSink {
    private static final int FEW = 2;

    private final CmId id;

    /** The taken, unacknowledged events, each with the thread that took it; guarded by its own monitor. */
    private final IdentityHashMap<CmEvent, Thread> takers = new IdentityHashMap<>(FEW);

    /** The pending events in the channel, in order; guarded by the channel's lock. */
    private final SequencedSet<CmEvent> queued = LinkedHashSet.newLinkedHashSet(FEW);

    /** The event of the connection request that created the identifier; null if the application created it. */
    private @Nullable CmEvent request;

    private volatile EventChannel channel;
    private volatile boolean synchronous;
    private volatile @Nullable CmEvent stored;

    /** Creates the events of an identifier. {@link #attach} must follow. */
    IdEvents(CmId id, EventChannel channel, boolean synchronous) {
        this.id = id;
        this.channel = channel;
        this.synchronous = synchronous;
    }

    /** Attaches the identifier to its channel. */
    void attach() {
        channel.attach();
    }

    EventChannel channel() {
        return channel;
    }

    SequencedSet<CmEvent> queued() {
        return queued;
    }

    boolean isSynchronous() {
        return synchronous;
    }

    /** Returns the stored event of a synchronous identifier, or null. */
    @Nullable
    CmEvent stored() {
        return stored;
    }

    // ---- from the provider to the channel

    @Override
    public void onEvent(CmEvent event) {
        if (event.type() == CmEvent.Type.DEVICE_REMOVAL) {
            id.connection.onDeviceRemoved();
        }
        post(event.of(id, id));
    }

    @Override
    public CmEventSink onConnectRequest(ProviderCmId child, CmEvent.ConnectRequest event) {
        CmId created = new CmId(id, child);
        created.events.request = event;
        post(event.of(id, created));
        return created.events;
    }

    @Override
    public boolean onRequestDiscarded() {
        CmEvent event = request;
        return event != null && event.owner().events.removeQueued(event);
    }

    /** Removes an event from the identifier's current channel. Returns false if a thread has taken it. */
    private boolean removeQueued(CmEvent event) {
        while (true) {
            EventChannel current = channel;
            boolean isRemoved = current.remove(event);
            if (isRemoved || current.equals(channel)) {
                return isRemoved;
            }
        }
    }

    /** Queues an event in the identifier's current channel. */
    private void post(CmEvent event) {
        boolean queued = false;
        while (!queued) {
            queued = channel.offer(event);
        }
    }

    // ---- from the channel to the application

    /** Performs the library's part of an event. Returns the event for the application, or null to discard it. */
    @Nullable
    CmEvent process(CmEvent event) {
        return switch (event) {
            case CmEvent.ConnectRequest request -> {
                id.connection.onRequest(request);
                yield joinChannelOf(request.listener()) ? request : null;
            }
            case CmEvent.ConnectResponse reply -> id.connection.onReply(reply);
            case CmEvent.Established established -> id.connection.onEstablished(established);
            case CmEvent.Rejected _, CmEvent.Disconnected _ -> id.connection.onEnd(event);
            case CmEvent.MulticastJoin join -> id.memberships().onJoin(join);
            case CmEvent.MulticastError error -> id.memberships().isJoined(error.membership()) ? error : null;
            case CmEvent.Notice _, CmEvent.Failure _, CmEvent.ServiceResolved _, CmEvent.User _ -> event;
        };
    }

    /**
     * Moves to the listener's current channel. Returns false if that channel is closed because the listener is being
     * closed.
     */
    private boolean joinChannelOf(CmId listener) {
        listener.lock().lock();
        try {
            if (listener.events.synchronous) {
                synchronous = true;
            } else {
                var _ = moveTo(listener.events.channel);
            }
            return true;
        } catch (RdmaException channelClosed) {
            id.close();
            return false;
        } finally {
            listener.lock().unlock();
        }
    }

    /**
     * Moves to another channel, or to a new channel of a synchronous identifier if {@code target} is null. Returns the
     * unacknowledged events that threads have taken from the old channel.
     */
    private Set<CmEvent> moveTo(@Nullable EventChannel target) {
        EventChannel next = target == null ? new EventChannel(channel.connectionManager()) : target;
        Set<CmEvent> unacknowledged = new HashSet<>();
        if (next != channel) {
            channel.moveTo(next, id, () -> {
                channel = next;
                synchronous = target == null;
                synchronized (takers) {
                    unacknowledged.addAll(takers.keySet());
                }
            });
        }
        return unacknowledged;
    }

    /** Implements {@link CmId#migrate}. */
    void migrate(@Nullable EventChannel target) {
        String operation = "rdma_migrate_id";
        EventChannel old;
        Set<CmEvent> taken;
        boolean wasSynchronous;
        id.lock().lock();
        try {
            id.requireOpen(operation);
            wasSynchronous = synchronous;
            if (target == null && wasSynchronous) {
                throw CmId.invalid(operation, "the identifier is already synchronous", "");
            }
            old = channel;
            taken = moveTo(target);
        } finally {
            id.lock().unlock();
        }
        if (wasSynchronous) {
            old.endWaits();
            acknowledgeStored();
        }
        if (!awaitAcknowledgements(taken::contains)) {
            throw new InterruptedRdmaException(operation, "events are not acknowledged yet", "");
        }
    }

    /** Ends the waits of a synchronous identifier that is being closed. */
    void endWaits() {
        if (synchronous) {
            channel.endWaits();
        }
    }

    /** Removes the identifier from its channel, and closes the pending requests. */
    void detach() {
        for (CmEvent event : channel.detach(id)) {
            if (!event.id().equals(id)) {
                event.id().close();
            }
        }
    }

    // ---- acknowledgements

    /** Records that the calling thread takes an event; called under the channel's lock. */
    void onTaken(CmEvent event) {
        queued.remove(event);
        synchronized (takers) {
            takers.put(event, Thread.currentThread());
        }
    }

    /** Handles an acknowledgement by any thread. Acknowledging an event again has no effect. */
    void onAcknowledged(CmEvent event) {
        synchronized (takers) {
            takers.remove(event);
            takers.notifyAll();
        }
    }

    /**
     * Waits until all events of a kind that other threads have taken are acknowledged. Events that the calling thread
     * has taken are excluded, since it cannot acknowledge them during the wait.
     *
     * @return false if the thread was interrupted; its interrupt status stays set
     */
    boolean awaitAcknowledgements(Predicate<CmEvent> kind) {
        synchronized (takers) {
            try {
                while (isHeldByAnother(kind)) {
                    takers.wait();
                }
                return true;
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }

    private boolean isHeldByAnother(Predicate<CmEvent> kind) {
        Thread self = Thread.currentThread();
        for (Map.Entry<CmEvent, Thread> each : takers.entrySet()) {
            if (!each.getValue().equals(self) && kind.test(each.getKey())) {
                return true;
            }
        }
        return false;
    }

    // ---- synchronous mode

    /** Implements {@link CmId#getRequest}. */
    CmId getRequest() {
        String operation = "rdma_get_request";
        requireSynchronous(operation, "Take its events there");
        acknowledgeStored();
        CmEvent request = await(operation);
        if (!(request instanceof CmEvent.ConnectRequest)) {
            store(operation, request);
            throw request.toException(operation);
        }
        request.id().events.store(operation, request);
        return request.id();
    }

    /** Implements {@link CmId#awaitDisconnect}. */
    void awaitDisconnect() {
        String operation = "rdma_get_cm_event";
        requireSynchronous(operation, "Await its events there");
        CmEvent current = stored;
        if (current != null && current.type() == CmEvent.Type.DISCONNECTED) {
            return;
        }
        acknowledgeStored();
        CmEvent next = await(operation);
        store(operation, next);
        if (next.type() != CmEvent.Type.DISCONNECTED) {
            throw next.toException(operation);
        }
    }

    private void requireSynchronous(String operation, String hint) {
        if (!synchronous) {
            throw CmId.invalid(operation, "the identifier reports to an event channel", hint);
        }
    }

    /** Returns whether the event of the end of the connection is pending. */
    boolean isEndQueued() {
        return channel.hasQueued(id, CmEvent.Type.DISCONNECTED);
    }

    /**
     * Waits for the event of a call if the identifier is synchronous. Throws an exception if the event reports a
     * failure.
     */
    void complete(String operation) {
        if (synchronous) {
            var _ = awaitSuccess(operation);
        }
    }

    /**
     * Waits like {@link #complete}, for an event that establishes a connection. Unlike in librdmacm, the call fails if
     * the connection has already ended, since no later event would report this.
     */
    void completeConnecting(String operation) {
        if (!synchronous) {
            return;
        }
        CmEvent result = awaitSuccess(operation);
        if (result.type() == CmEvent.Type.DISCONNECTED) {
            throw result.toException(operation);
        }
    }

    private CmEvent awaitSuccess(String operation) {
        acknowledgeStored();
        CmEvent result = await(operation);
        store(operation, result);
        if (result.status() != 0) {
            throw result.toException(operation);
        }
        return result;
    }

    private CmEvent await(String operation) {
        EventChannel from = channel;
        try {
            return from.await();
        } catch (ClosedException ended) {
            from.connectionManager().requireOpen(operation);
            if (from.equals(channel)) {
                throw closedException(operation);
            }
            throw CmId.invalid(operation, id + " was moved to an event channel meanwhile", "Take its events there");
        } catch (InterruptedRdmaException interrupted) {
            throw new InterruptedRdmaException(operation, id.toString(), "");
        }
    }

    private ClosedException closedException(String operation) {
        return new ClosedException(operation, "the identifier is closed: " + id, "");
    }

    /** Stores an event. The next waiting call, or closing the identifier, acknowledges it. */
    private void store(String operation, CmEvent result) {
        CmEvent old = result;
        boolean isStored;
        id.lock().lock();
        try {
            isStored = !id.isClosed();
            if (isStored) {
                old = stored;
                stored = result;
            }
        } finally {
            id.lock().unlock();
        }
        if (old != null) {
            old.acknowledge();
        }
        if (!isStored) {
            throw closedException(operation);
        }
    }

    /** Acknowledges the stored event, if any. */
    void acknowledgeStored() {
        CmEvent old;
        id.lock().lock();
        try {
            old = stored;
            stored = null;
        } finally {
            id.lock().unlock();
        }
        if (old != null) {
            old.acknowledge();
        }
    }
}
