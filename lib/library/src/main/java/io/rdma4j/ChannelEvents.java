package io.rdma4j;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DisconnectedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.SignalListener;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The events of an identifier that has a queue pair. Any thread that waits for the queue pair handles them; otherwise a task of
 * the wait driver does, so that a peer is answered even if the program does not use the queue pair. Thread safe.
 */
abstract class ChannelEvents {
    private final EventChannel channel;
    private final CmId id;
    private final ReentrantLock lock = new ReentrantLock();
    private final SignalListener onSignal = this::onSignal;
    private final AtomicBoolean isScheduled = new AtomicBoolean();

    /** The reason why the queue pair can no longer be used, or null. */
    private volatile @Nullable String end;

    /** True once the program closes the queue pair itself. */
    private volatile boolean isClosing;

    private volatile boolean isClosed;

    /** Creates the events of an identifier, the only one that reports to a channel. */
    ChannelEvents(EventChannel channel, CmId id) {
        this.channel = channel;
        this.id = id;
    }

    CmId id() {
        return id;
    }

    EventChannel channel() {
        return channel;
    }

    Signal signal() {
        return channel.signal();
    }

    /** Starts to handle the events, by a task if no thread waits. */
    void watch() {
        channel.signal().add(onSignal);
        onSignal();
    }

    private void onSignal() {
        if (!channel.isReady() || end != null || !isScheduled.compareAndSet(false, true)) {
            return;
        }
        boolean isStarted = false;
        try {
            channel.waitDriver().execute(() -> {
                isScheduled.set(false);
                handle();
            });
            isStarted = true;
        } finally {
            if (!isStarted) { // for lack of memory: the next event or wait tries again
                isScheduled.set(false);
            }
        }
    }

    /** Returns whether there are events to handle. */
    boolean isReady() {
        return channel.isReady();
    }

    /** Handles the events that have arrived. Does not wait. */
    void handle() {
        try {
            // A thread that finds the lock held relies on its holder to check again after the release.
            while (!isClosed && channel.isReady() && lock.tryLock()) {
                try {
                    handleAll();
                } finally {
                    lock.unlock();
                }
            }
        } catch (ClosedException closed) {
            return; // the events are no longer needed
        }
    }

    private void handleAll() {
        while (!isClosed && channel.isReady()) {
            try (CmEvent event = channel.poll()) {
                if (event != null) {
                    handle(event);
                }
            }
        }
    }

    /** Handles an event of the identifier, or of a request that it has received. */
    abstract void handle(CmEvent event);

    /** Moves the queue pair to the error state, so that its work requests are flushed. Does not throw. */
    abstract void flush();

    /** Ends the use of the queue pair: the work requests are flushed. Calls report the first reason. */
    void end(String reason) {
        lock.lock();
        try {
            end = end == null ? reason : end;
        } finally {
            lock.unlock();
        }
        flush();
        channel.signal().raise();
    }

    /** Returns whether the queue pair can no longer be used. */
    boolean isEnded() {
        return end != null;
    }

    /** Notes that the program closes the queue pair, which is what calls of other threads report. */
    void beginClose() {
        isClosing = end == null;
    }

    /** Returns the exception for a call after the end. */
    RdmaException ended(String operation) {
        if (isClosing) {
            return new ClosedException(operation, id + " was closed by this program", "");
        }
        String reason = end;
        return new DisconnectedException(operation, reason == null ? "the connection has ended" : reason);
    }

    /** Returns whether the program closes the queue pair, or has closed it. */
    boolean isClosing() {
        return isClosing;
    }

    boolean isClosed() {
        return isClosed;
    }

    /** Closes the identifier with its queues, then the channel. Waits for a thread that handles an event. */
    void close() {
        isClosed = true;
        channel.signal().remove(onSignal);
        channel.signal().raise();
        lock.lock();
        try {
            Cleanup.runAll(List.of(id::close, channel::close));
        } finally {
            lock.unlock();
        }
    }
}
