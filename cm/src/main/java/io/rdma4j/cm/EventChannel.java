package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A queue of the events of identifiers. C: {@code struct rdma_event_channel}. Thread safe; several threads may wait.
 *
 * <p>Taking an event performs protocol work, as in C. When the peer's acceptance arrives at an identifier with a queue
 * pair, the thread that takes the event moves the queue pair to ready-to-send and confirms the connection. An
 * application must therefore keep taking events until its connections are established.
 */
public final class EventChannel implements AutoCloseable {
    /**
     * An event that has not been taken. {@code owner} is the identifier that waits for its acknowledgement: for a
     * request, the listener.
     */
    record Pending(CmId owner, CmId id, ProviderEvent event) {}

    private static final AtomicLong SEQUENCE = new AtomicLong();

    private final ConnectionManager connectionManager;
    private final long sequence = SEQUENCE.incrementAndGet();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<Pending> queue = new ArrayDeque<>();
    private int identifiers;
    private boolean closed;

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
     * Creates an identifier whose events are delivered to this channel. C: {@code rdma_create_id}.
     *
     * @param portSpace the port space
     * @param context object for the application's use, stored at the identifier
     * @throws RdmaException {@code EINVAL} if the channel is closed
     */
    public CmId createId(PortSpace portSpace, @Nullable Object context) {
        return createId(portSpace, portSpace.queuePairType(), context);
    }

    /**
     * Creates an identifier for a queue pair type, whose events are delivered to this channel. {@link
     * CmId#create(PortSpace, QueuePairType, Object)} describes the types. In C only {@code rdma_create_ep} creates such
     * identifiers.
     *
     * @param portSpace the port space
     * @param type a type of the port space; any in {@link PortSpace#IB}
     * @param context object for the application's use, stored at the identifier
     * @throws RdmaException {@code EINVAL} if the channel is closed, or the port space does not have the type
     */
    public CmId createId(PortSpace portSpace, QueuePairType type, @Nullable Object context) {
        return new CmId(this, false, portSpace, type, context);
    }

    /**
     * Waits for an event and takes it. C: {@code rdma_get_cm_event}. A virtual thread parks.
     *
     * @return the event, which must be acknowledged; null if the channel was closed or the thread was interrupted (its
     *     interrupt status stays set)
     */
    public @Nullable CmEvent await() {
        return take(Long.MAX_VALUE);
    }

    /**
     * Waits for an event and takes it, like {@link #await()}, for at most {@code timeout}.
     *
     * @return the event, or null also if the timeout elapsed
     */
    public @Nullable CmEvent await(Duration timeout) {
        long nanos;
        try {
            nanos = timeout.toNanos();
        } catch (ArithmeticException centuries) {
            nanos = Long.MAX_VALUE;
        }
        return take(nanos);
    }

    /**
     * Takes an event without waiting, or returns null if none is pending. C: {@code rdma_get_cm_event} with {@code
     * O_NONBLOCK}.
     */
    public @Nullable CmEvent poll() {
        return take(0);
    }

    private @Nullable CmEvent take(long timeoutNanos) {
        long remaining = timeoutNanos;
        while (true) {
            Pending pending;
            lock.lock();
            try {
                while (closed || queue.isEmpty()) {
                    if (closed || remaining <= 0) {
                        return null;
                    }
                    if (timeoutNanos == Long.MAX_VALUE) {
                        changed.await();
                    } else {
                        remaining = changed.awaitNanos(remaining);
                    }
                }
                pending = queue.remove();
                pending.owner().events.onTaken(pending);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return null;
            } finally {
                lock.unlock();
            }
            CmEvent event = null;
            try {
                event = pending.id().events.process(pending);
            } finally {
                if (event == null) {
                    pending.owner().events.onAcknowledged(pending);
                }
            }
            if (event != null) {
                return event;
            }
        }
    }

    /**
     * Closes the channel. Threads that wait for an event receive null, now and later. Closing it again has no effect. C:
     * {@code rdma_destroy_event_channel}.
     *
     * <p>The channel never waits for acknowledgements, which is what closing an identifier does. So a thread may close
     * the channel while it handles the last event of its last identifier, after the identifier, and acknowledge the
     * event afterwards. While one thread waits in {@link CmId#close} for the acknowledgement of another, the identifier
     * no longer belongs to the channel, and a third thread may close the channel.
     *
     * @throws RdmaException {@code EBUSY} while it has identifiers, including those of requests that were taken; the
     *     channel stays open
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
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends all current and later waits on the channel of a synchronous identifier. */
    void endWaits() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void attach() {
        lock.lock();
        try {
            if (closed) {
                throw new RdmaException("rdma_create_id", Errno.EINVAL, "the event channel is closed", "");
            }
            identifiers++;
        } finally {
            lock.unlock();
        }
    }

    /** Removes an identifier, and returns its events that have not been taken. */
    List<Pending> detach(CmId owner) {
        lock.lock();
        try {
            identifiers--;
            return removeOf(owner);
        } finally {
            lock.unlock();
        }
    }

    private List<Pending> removeOf(CmId owner) {
        List<Pending> removed = new ArrayList<>();
        for (Iterator<Pending> all = queue.iterator(); all.hasNext(); ) {
            Pending pending = all.next();
            if (pending.owner() == owner) {
                removed.add(pending);
                all.remove();
            }
        }
        return removed;
    }

    /** Queues an event. Returns false if its owner has moved to another channel. */
    boolean offer(Pending pending) {
        lock.lock();
        try {
            if (pending.owner().events.channel() != this) {
                return false;
            }
            queue.add(pending);
            changed.signal();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Moves an identifier and its events to another channel. {@code change} updates the identifier. */
    void moveTo(EventChannel target, CmId owner, Runnable change) {
        EventChannel first = sequence <= target.sequence ? this : target;
        EventChannel second = first == this ? target : this;
        first.lock.lock();
        second.lock.lock();
        try {
            if (target.closed) {
                throw new RdmaException("rdma_migrate_id", Errno.EINVAL, "the event channel is closed", "");
            }
            identifiers--;
            target.identifiers++;
            target.queue.addAll(removeOf(owner));
            change.run();
            target.changed.signalAll();
        } finally {
            second.lock.unlock();
            first.lock.unlock();
        }
    }
}
