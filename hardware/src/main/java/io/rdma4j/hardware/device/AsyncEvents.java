package io.rdma4j.hardware.device;

import io.rdma4j.hardware.abi.AsyncEventFields;
import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.hardware.system.DescriptorHandler;
import io.rdma4j.hardware.system.DescriptorPoller;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.EventWait;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waitable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The asynchronous events of an open device. They are acknowledged to libibverbs as soon as they are read, so that a call to
 * destroy their source does not block in C; here it waits for the application's acknowledgement. Thread safe.
 */
final class AsyncEvents implements Waitable, DescriptorHandler {
    private static final String GET_EVENT = "ibv_get_async_event";

    private final HardwareContext context;
    private final Queue<AsyncEvent> events = new ConcurrentLinkedQueue<>();
    private final Signal signal = new Signal();

    /** The number of unacknowledged events by their source. Guards the removal of events, too. */
    private final Map<Object, Integer> unacknowledged = new HashMap<>();

    private final Signal acknowledged = new Signal();
    private volatile boolean closed;

    AsyncEvents(HardwareContext context) {
        this.context = context;
    }

    @Override
    public synchronized void onReadable() {
        if (closed) {
            return;
        }
        try (Call call = new Call()) {
            MemorySegment event = call.allocate(AsyncEventFields.BYTES);
            while ((int) call.result(Function.GET_ASYNC_EVENT, context.pointer(), event.address()) == 0) {
                add(event);
                long _ = call.result(Function.ACKNOWLEDGE_ASYNC_EVENT, event.address());
            }
        }
        signal.raise();
    }

    private void add(MemorySegment event) {
        int code = event.get(ValueLayout.JAVA_INT, AsyncEventFields.TYPE);
        long element = event.get(ValueLayout.JAVA_LONG, AsyncEventFields.ELEMENT);
        for (AsyncEvent.Type type : AsyncEvent.Type.values()) {
            if (type.code() == code) {
                Object source = hasObject(type) ? context.objectAt(element) : context;
                if (source != null) {
                    events.add(new AsyncEvent(type, source));
                }
            }
        }
    }

    private static boolean hasObject(AsyncEvent.Type type) {
        return switch (type) {
            case DEVICE_FATAL, PORT_ACTIVE, PORT_ERROR, GID_CHANGE -> false;
            default -> true;
        };
    }

    /** Removes the events of an object that is closed, and waits for the acknowledgement of those that were taken. */
    void finish(Object source) {
        onReadable();
        synchronized (unacknowledged) {
            events.removeIf(event -> event.source().equals(source));
        }
        // Closing the device must not wait for an event that is never acknowledged, nor must an interrupted thread.
        boolean _ = waitDriver().await(acknowledged, () -> closed || isAcknowledged(source), Long.MAX_VALUE);
    }

    private boolean isAcknowledged(Object source) {
        synchronized (unacknowledged) {
            return !unacknowledged.containsKey(source);
        }
    }

    /**
     * Takes the next event, and waits for it for at most {@code timeout}; returns null after that.
     *
     * @throws ClosedException if the device is closed
     */
    @Nullable
    AsyncEvent take(Duration timeout) {
        return timeout.isPositive() ? EventWait.take(GET_EVENT, this, this::poll, timeout) : poll();
    }

    private @Nullable AsyncEvent poll() {
        if (closed) {
            throw new ClosedException(GET_EVENT, context.device() + " is closed", "Open the device again");
        }
        if (events.isEmpty()) {
            onReadable();
        }
        synchronized (unacknowledged) {
            AsyncEvent event = events.poll();
            if (event != null) {
                unacknowledged.merge(event.source(), 1, Integer::sum);
            }
            return event;
        }
    }

    void acknowledge(AsyncEvent event) {
        synchronized (unacknowledged) {
            Integer count = unacknowledged.get(event.source());
            if (count == null) {
                throw new RdmaException(
                        "ibv_ack_async_event",
                        Errno.EINVAL,
                        "no event of " + event.source() + " is unacknowledged",
                        "Acknowledge each event of takeAsyncEvent once, those of awaitAsyncEvent not at all");
            }
            if (count == 1) {
                unacknowledged.remove(event.source());
            } else {
                unacknowledged.put(event.source(), count - 1);
            }
        }
        acknowledged.raise();
    }

    /** Ends all waits, because the device is closed. No event is read after this. */
    void close() {
        synchronized (this) {
            closed = true;
        }
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
        return DescriptorPoller.ofProcess();
    }

    @Override
    public boolean yields() {
        return true;
    }

    @Override
    public String toString() {
        return "asynchronous events of " + context.device();
    }
}
