package io.rdma4j.cm;

import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.EventWait;
import io.rdma4j.verbs.spi.ParkingDriver;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waitable;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A queue of the events of identifiers. C: {@code struct rdma_event_channel}. Thread safe; several threads may wait.
 *
 * <p>Taking an event performs protocol work, like in C. When the peer's acceptance arrives at an identifier with a
 * queue pair, the thread that takes the event moves the queue pair to ready-to-send and confirms the connection. An
 * application must therefore keep taking events until its connections are established.
 */
public final class EventChannel implements Waitable, AutoCloseable {
    private static final String GET_EVENT = "rdma_get_cm_event";

    /** The driver before the first event, while no provider has started. */
    private static final WaitDriver PARKING = new ParkingDriver(System::nanoTime);

    private static final AtomicLong SEQUENCE = new AtomicLong();

    private final ConnectionManager connectionManager;
    private final long sequence = SEQUENCE.incrementAndGet();
    private final ReentrantLock lock = new ReentrantLock();
    private final Signal signal = new Signal();

    /** The events of all identifiers, in order. Each identifier also has a list, so that closing it needs no search. */
    private final SequencedSet<CmEvent> queue = new LinkedHashSet<>();

    private volatile @Nullable WaitDriver driver;

    /** Changed under the lock, like {@link #closed}. */
    private volatile boolean isEmpty = true;

    private volatile boolean closed;

    /** True if the connection manager wakes the channel's threads when it is closed. */
    private volatile boolean isKnown;

    private int identifiers;

    EventChannel(ConnectionManager connectionManager) {
        this.connectionManager = connectionManager;
    }

    /**
     * Opens a channel. C: {@code rdma_create_event_channel}.
     *
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one
     */
    public static EventChannel open() {
        return ConnectionManager.ofProcess().openEventChannel();
    }

    /** Returns the connection manager that the channel belongs to. */
    public ConnectionManager connectionManager() {
        return connectionManager;
    }

    /**
     * Creates an identifier without a context object; see {@link #createId(PortSpace, Object)}. C: {@code
     * rdma_create_id}.
     */
    public CmId createId(PortSpace portSpace) {
        return createId(portSpace, null);
    }

    /**
     * Creates an identifier that delivers its events to this channel. C: {@code rdma_create_id}.
     *
     * @param portSpace the port space
     * @param context object for the application's use, stored in the identifier
     * @throws ClosedException if the channel is closed
     */
    public CmId createId(PortSpace portSpace, @Nullable Object context) {
        return createId(portSpace, portSpace.queuePairType(), context);
    }

    /**
     * Creates an identifier for a queue pair type, which delivers its events to this channel. {@link
     * CmId#create(PortSpace, QueuePairType, Object)} describes the types. In C only {@code rdma_create_ep} creates such
     * identifiers.
     *
     * @param portSpace the port space
     * @param type a type of the port space; any type in {@link PortSpace#IB}
     * @param context object for the application's use, stored in the identifier
     * @throws ClosedException if the channel is closed
     * @throws RdmaException {@code EINVAL} if the port space does not have the type
     */
    public CmId createId(PortSpace portSpace, QueuePairType type, @Nullable Object context) {
        connectionManager.requireOpen("rdma_create_id");
        return new CmId(this, false, portSpace, type, context);
    }

    /**
     * Waits for an event and takes it. A waiting platform thread drives the device, unless other threads wait or poll
     * for data. A virtual thread parks. C: {@code rdma_get_cm_event}.
     *
     * @return the event, which must be acknowledged
     * @throws ClosedException if the channel is closed
     * @throws RdmaException {@code EINTR} if the thread is interrupted; its interrupt status stays set
     */
    public CmEvent await() {
        return EventWait.take(GET_EVENT, this, this::next);
    }

    /**
     * Waits for an event and takes it, like {@link #await()}, for at most {@code timeout}.
     *
     * @return the event, or null after the timeout
     */
    public @Nullable CmEvent await(Duration timeout) {
        return timeout.isPositive() ? EventWait.take(GET_EVENT, this, this::next, timeout) : poll();
    }

    /**
     * Takes an event without waiting. If the channel is empty, drives the device once. C: {@code rdma_get_cm_event}
     * with {@code O_NONBLOCK}.
     *
     * @return the event, or null if the channel is empty
     * @throws ClosedException if the channel is closed
     */
    public @Nullable CmEvent poll() {
        CmEvent event = next();
        if (event == null) {
            boolean _ = waitDriver().poll();
            event = next();
        }
        return event;
    }

    /** Takes the next event for the application, or returns null. */
    private @Nullable CmEvent next() {
        if (closed) {
            throw closedException(GET_EVENT);
        }
        connectionManager.requireOpen(GET_EVENT);
        CmEvent event = null;
        CmEvent taken = remove();
        while (taken != null && event == null) {
            event = process(taken);
            taken = event == null ? remove() : null;
        }
        return event;
    }

    private @Nullable CmEvent remove() {
        if (isEmpty) {
            return null;
        }
        lock.lock();
        try {
            if (closed || queue.isEmpty()) {
                return null;
            }
            CmEvent event = queue.removeFirst();
            isEmpty = queue.isEmpty();
            event.owner().events.onTaken(event);
            return event;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the event for the application, or null to discard it. */
    private static @Nullable CmEvent process(CmEvent taken) {
        CmEvent event = null;
        try {
            event = taken.id().events.process(taken);
        } finally {
            if (event == null) {
                taken.owner().events.onAcknowledged(taken);
            }
        }
        return event;
    }

    @Override
    public boolean isReady() {
        return !isEmpty || closed || connectionManager.isClosed();
    }

    @Override
    public Signal signal() {
        if (!isKnown) {
            isKnown = true;
            connectionManager.add(this);
        }
        return signal;
    }

    /** Makes waiting threads check whether the connection manager is closed. */
    void wake() {
        signal.raise();
    }

    @Override
    public WaitDriver waitDriver() {
        WaitDriver known = driver;
        if (known == null) {
            known = connectionManager.providers().waitDriver();
            driver = known;
        }
        return known == null ? PARKING : known;
    }

    /** Returns true: a thread that waits for connection events leaves the device to threads that wait for data. */
    @Override
    public boolean yields() {
        return true;
    }

    /**
     * Closes the channel. Current and later calls that wait for an event throw {@link ClosedException}. Closing the
     * channel again has no effect. C: {@code rdma_destroy_event_channel}.
     *
     * <p>Closing a channel never waits for acknowledgements; closing an identifier does. A thread may therefore handle
     * the last event of the last identifier, close the identifier and then the channel, and acknowledge the event
     * afterwards. While a thread waits in {@link CmId#close} for another thread's acknowledgement, the identifier no
     * longer belongs to the channel, and a third thread may close the channel.
     *
     * @throws RdmaException {@code EBUSY} while the channel has identifiers, including the identifiers of taken
     *     requests; the channel stays open
     */
    @Override
    public void close() {
        lock.lock();
        try {
            if (identifiers > 0) {
                throw new RdmaException(
                        "rdma_destroy_event_channel",
                        Errno.EBUSY,
                        identifiers + " identifiers still report here",
                        "Close the identifiers first");
            }
            closed = true;
        } finally {
            lock.unlock();
        }
        wake();
        connectionManager.remove(this);
    }

    /** Ends all current and later waits on the channel of a synchronous identifier. */
    void endWaits() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        wake();
        connectionManager.remove(this);
    }

    void attach() {
        lock.lock();
        try {
            if (closed) {
                throw closedException("rdma_create_id");
            }
            identifiers++;
        } finally {
            lock.unlock();
        }
    }

    /** Removes an identifier, and returns its pending events. */
    List<CmEvent> detach(CmId owner) {
        lock.lock();
        try {
            identifiers--;
            return removeOf(owner);
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether an identifier has a pending event of a type. */
    boolean hasQueued(CmId owner, CmEvent.Type type) {
        lock.lock();
        try {
            return owner.events.queued().stream().anyMatch(event -> event.type() == type);
        } finally {
            lock.unlock();
        }
    }

    private List<CmEvent> removeOf(CmId owner) {
        List<CmEvent> removed = List.copyOf(owner.events.queued());
        owner.events.queued().clear();
        removed.forEach(queue::remove);
        isEmpty = queue.isEmpty();
        return removed;
    }

    /** Removes a pending event. Returns false if the event is not in this channel. */
    boolean remove(CmEvent event) {
        lock.lock();
        try {
            if (event.owner().events.channel() != this || !queue.remove(event)) {
                return false;
            }
            event.owner().events.queued().remove(event);
            isEmpty = queue.isEmpty();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void add(CmEvent event) {
        queue.add(event);
        event.owner().events.queued().add(event);
        isEmpty = false;
    }

    /** Queues an event. Returns false if its owner has moved to another channel. */
    boolean offer(CmEvent event) {
        lock.lock();
        try {
            if (event.owner().events.channel() != this) {
                return false;
            }
            add(event);
        } finally {
            lock.unlock();
        }
        signal.raise();
        return true;
    }

    /** Moves an identifier and its events to another channel. {@code change} updates the identifier. */
    void moveTo(EventChannel target, CmId owner, Runnable change) {
        EventChannel first = sequence <= target.sequence ? this : target;
        EventChannel second = first == this ? target : this;
        first.lock.lock();
        second.lock.lock();
        boolean hasEvents;
        try {
            if (target.closed) {
                throw closedException("rdma_migrate_id");
            }
            identifiers--;
            target.identifiers++;
            List<CmEvent> moved = removeOf(owner);
            moved.forEach(target::add);
            hasEvents = !moved.isEmpty();
            change.run();
        } finally {
            second.lock.unlock();
            first.lock.unlock();
        }
        if (hasEvents) {
            target.signal.raise();
        }
    }

    private static ClosedException closedException(String operation) {
        return new ClosedException(operation, "the event channel is closed", "");
    }

    @Override
    public String toString() {
        return "event channel " + sequence;
    }
}
