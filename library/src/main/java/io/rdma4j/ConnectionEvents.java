package io.rdma4j;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DisconnectedException;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.SignalListener;
import io.rdma4j.verbs.wait.WaitDriver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The events of one connection: those of the steps that establish it, and its end. Any thread that waits for the connection handles the
 * events; otherwise a virtual thread does, so that a peer that disconnects is answered although the program does not use the connection.
 * Thread safe.
 */
final class ConnectionEvents {
    private final EventChannel channel;
    private final CmId id;
    private final ReentrantLock lock = new ReentrantLock();
    private final SignalListener onSignal = this::onSignal;
    private final AtomicBoolean isScheduled = new AtomicBoolean();

    /** How the connection has ended, or null. */
    private volatile @Nullable String end;

    private volatile boolean isClosed;

    /** Creates the events of an identifier that reports to a channel alone. */
    ConnectionEvents(EventChannel channel, CmId id) {
        this.channel = channel;
        this.id = id;
    }

    CmId id() {
        return id;
    }

    /** Returns the deadline of a step that begins now. */
    Deadline deadline(Duration timeout) {
        return new Deadline(channel, timeout);
    }

    /** Waits for the event of a step, and throws the failure that another event reports. */
    void await(CmEvent.Type type, String operation, Deadline deadline) {
        try (CmEvent event = channel.await(deadline.remaining())) {
            if (event == null) {
                throw new RdmaTimeoutException(operation, "the peer has not answered in time", "");
            }
            if (event.type() != type) {
                throw event.toException(operation);
            }
        }
    }

    /** Handles the events of the connection, which is established, from now on. */
    void watch() {
        if (!channel.waitDriver().isInVirtualTime()) { // whose only thread handles them when it waits
            channel.signal().add(onSignal);
            onSignal();
        }
    }

    private void onSignal() {
        if (!channel.isReady() || end != null || !isScheduled.compareAndSet(false, true)) {
            return;
        }
        boolean isStarted = false;
        try {
            Thread.ofVirtual().name("rdma4j-connection-end").start(() -> {
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

    Signal signal() {
        return channel.signal();
    }

    /** Returns whether the connection has ended. */
    boolean isEnded() {
        return end != null;
    }

    /** Returns the exception for a call on a connection that has ended. */
    DisconnectedException ended(String operation) {
        String reason = end;
        return new DisconnectedException(operation, reason == null ? "the connection has ended" : reason);
    }

    /** Handles the events of an established connection that have arrived. Does not wait. */
    void handle() {
        if (!channel.isReady() || !lock.tryLock()) {
            return;
        }
        try {
            while (channel.isReady()) {
                try (CmEvent event = channel.poll()) {
                    if (event != null) {
                        handle(event);
                    }
                }
            }
        } catch (ClosedException closed) {
            return; // nobody needs the events any more
        } finally {
            lock.unlock();
        }
    }

    private void handle(CmEvent event) {
        switch (event.type()) {
            case DISCONNECTED -> end(id + " was disconnected"); // answers the peer, and flushes the work requests
            case DEVICE_REMOVAL -> end("the device of " + id + " was removed");
            default -> {} // changes of addresses and the end of time-wait concern no call
        }
    }

    /** Ends the connection: the peer is notified, and the work requests are flushed. The first reason is the one that calls report. */
    void end(String reason) {
        lock.lock();
        try {
            end = end == null ? reason : end;
        } finally {
            lock.unlock();
        }
        disconnect();
        channel.signal().raise();
    }

    /** Disconnects, unless the connection has ended already. */
    void disconnect() {
        try {
            id.disconnect();
        } catch (RdmaException alreadyEnded) {
            // There is no connection any more, which was the aim.
            return;
        }
    }

    /** Waits until the connection has ended or is closed. */
    void awaitEnd(String operation, Duration timeout) {
        WaitDriver driver = channel.waitDriver();
        long deadlineNanos = driver.deadlineNanos(timeout);
        handle();
        while (!isOver()) {
            if (!driver.await(channel.signal(), () -> channel.isReady() || isOver(), deadlineNanos) && !isOver()) {
                throw Thread.currentThread().isInterrupted()
                        ? new InterruptedRdmaException(operation, id.toString(), "")
                        : new RdmaTimeoutException(operation, id + " is still connected", "");
            }
            handle();
        }
    }

    private boolean isOver() {
        return end != null || isClosed;
    }

    /** Waits until the peer has confirmed that this side disconnects. Does not throw. */
    void awaitDisconnected(Duration timeout) {
        try {
            awaitEnd("close", timeout);
        } catch (RdmaException notConfirmed) {
            return; // the peer has gone, or the thread is interrupted and should not wait
        }
    }

    /** Closes the identifier with its queues, then the channel. */
    void close() {
        isClosed = true;
        channel.signal().remove(onSignal);
        channel.signal().raise();
        Cleanup.runAll(List.of(id::close, channel::close));
    }
}
