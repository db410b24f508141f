package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.Engine;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.EventWait;
import io.rdma4j.verbs.spi.SpinLock;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A completion channel: a queue of completion queues that have completions. */
final class SoftCompletionChannel implements CompletionChannel {
    private static final String GET_EVENT = "ibv_get_cq_event";

    private final SoftContext context;

    /**
     * The engine that a waiting thread drives: the engine of the queue attached last. Other engines are driven by their own
     * threads.
     */
    private volatile Engine engine;

    private final Signal signal = new Signal();
    private final SpinLock lock = new SpinLock();
    private final ReportedQueues events = new ReportedQueues();
    private int queues;
    private volatile int pending;
    private volatile boolean closed;

    SoftCompletionChannel(SoftContext context) {
        this.context = context;
        engine = context.engine();
    }

    SoftContext context() {
        return context;
    }

    /** Adds an event; any thread. */
    void onEvent(SoftCompletionQueue queue) {
        lock.lock();
        try {
            events.add(queue);
            pending = events.size();
        } finally {
            lock.unlock();
        }
        signal.raise();
    }

    /** Removes the events of a queue that is being closed. */
    void forget(SoftCompletionQueue queue) {
        lock.lock();
        try {
            events.remove(queue);
            pending = events.size();
        } finally {
            lock.unlock();
        }
    }

    synchronized void attach(Engine driver) {
        if (closed) {
            throw new ClosedException("ibv_create_cq", "the completion channel is closed", "");
        }
        queues++;
        engine = driver;
    }

    synchronized void detach() {
        queues--;
    }

    @Override
    public CompletionQueue await() {
        return EventWait.take(GET_EVENT, this, this::poll);
    }

    @Override
    public @Nullable CompletionQueue await(Duration timeout) {
        return EventWait.take(GET_EVENT, this, this::poll, timeout);
    }

    @Override
    public boolean isReady() {
        return pending > 0 || closed;
    }

    @Override
    public Signal signal() {
        return signal;
    }

    @Override
    public WaitDriver waitDriver() {
        return engine;
    }

    @Override
    public @Nullable CompletionQueue poll() {
        if (closed) {
            throw new ClosedException(GET_EVENT, this + " is closed", "");
        }
        if (pending == 0) {
            return null;
        }
        lock.lock();
        try {
            SoftCompletionQueue queue = events.poll();
            pending = events.size();
            if (queue != null) {
                queue.onEventTaken();
            }
            return queue;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (queues > 0) {
                throw new RdmaException(
                        "ibv_destroy_comp_channel",
                        Errno.EBUSY,
                        queues + " completion queues report here",
                        "Close them first");
            }
            closed = true; // no further completion queue can be attached
        }
        closeNow();
    }

    void closeNow() {
        closed = true;
        signal.raise();
        context.remove(this);
    }

    @Override
    public String toString() {
        return "a completion channel of " + context.device().name();
    }
}
