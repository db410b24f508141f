package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waitable;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The asynchronous events of an open device, in the order in which the provider has added them. Also tracks the
 * application's acknowledgements. Implements the event calls of {@link io.rdma4j.verbs.DeviceContext}. Thread safe.
 */
public final class AsyncEventQueue implements Waitable {
    private static final String GET_EVENT = "ibv_get_async_event";

    private final WaitDriver driver;
    private final String deviceName;
    private final Queue<AsyncEvent> events = new ConcurrentLinkedQueue<>();
    private final Signal signal = new Signal();

    /** The number of unacknowledged events by source. Its monitor also guards the removal of events. */
    private final Map<Object, Integer> unacknowledged = new HashMap<>();

    private final Signal acknowledged = new Signal();
    private volatile boolean closed;

    /**
     * Creates an empty queue.
     *
     * @param driver makes progress while a thread waits for an event
     * @param deviceName the name of the device, for messages
     */
    public AsyncEventQueue(WaitDriver driver, String deviceName) {
        this.driver = driver;
        this.deviceName = deviceName;
    }

    /** Adds an event, and wakes waiting threads. Does not block. */
    public void add(AsyncEvent event) {
        events.add(event);
        signal.raise();
    }

    /** Removes the pending events of a closed object, and waits until its taken events are acknowledged. */
    public void finish(Object source) {
        synchronized (unacknowledged) {
            events.removeIf(event -> event.source().equals(source));
        }
        // A closed device and an interrupted thread must not wait for an event that is never acknowledged.
        var _ = acknowledged.await(driver, () -> closed || isAcknowledged(source), Long.MAX_VALUE);
    }

    private boolean isAcknowledged(Object source) {
        synchronized (unacknowledged) {
            return !unacknowledged.containsKey(source);
        }
    }

    /**
     * Takes the next event, and waits for it for at most {@code timeout}. Returns null after the timeout.
     *
     * @throws ClosedException if the device is closed
     */
    public @Nullable AsyncEvent take(Duration timeout) {
        return timeout.isPositive() ? EventWait.take(GET_EVENT, this, this::poll, timeout) : poll();
    }

    private @Nullable AsyncEvent poll() {
        if (closed) {
            throw new ClosedException(GET_EVENT, deviceName + " is closed", "Open the device again");
        }
        synchronized (unacknowledged) {
            AsyncEvent event = events.poll();
            if (event != null) {
                unacknowledged.merge(event.source(), 1, Integer::sum);
            }
            return event;
        }
    }

    /**
     * Acknowledges an event that was taken.
     *
     * @throws RdmaException {@code EINVAL} if the event's source has no unacknowledged event
     */
    public void acknowledge(AsyncEvent event) {
        synchronized (unacknowledged) {
            Integer count = unacknowledged.get(event.source());
            if (count == null) {
                throw new RdmaException(
                        "ibv_ack_async_event",
                        Errno.EINVAL,
                        "no event of " + event.source() + " is unacknowledged",
                        "Acknowledge each event of takeAsyncEvent once, and no event of awaitAsyncEvent");
            }
            if (count == 1) {
                unacknowledged.remove(event.source());
            } else {
                unacknowledged.put(event.source(), count - 1);
            }
        }
        acknowledged.raise();
    }

    /** Ends all waits when the device is closed. */
    public void close() {
        closed = true;
        acknowledged.raise();
        signal.raise();
    }

    @Override
    public boolean isReady() {
        return !events.isEmpty() || closed;
    }

    @Override
    public Signal signal() {
        return signal;
    }

    @Override
    public WaitDriver waitDriver() {
        return driver;
    }

    @Override
    public boolean yields() {
        return true;
    }

    @Override
    public String toString() {
        return "asynchronous events of " + deviceName;
    }
}
