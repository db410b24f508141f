package io.rdma4j;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DisconnectedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.wait.Signal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The events of one connection: those of the steps that establish it, and its end. Any thread that waits for the connection handles the
 * events, so that no thread is needed for them. Thread safe.
 */
final class ConnectionEvents {
    private final EventChannel channel;
    private final CmId id;
    private final ReentrantLock lock = new ReentrantLock();

    /** How the connection has ended, or null. */
    private volatile @Nullable String end;

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

    /** Waits until the connection has ended. */
    void awaitEnd(String operation, Duration timeout) {
        Deadline deadline = new Deadline(channel, timeout);
        handle();
        while (end == null) {
            Duration remaining = deadline.remaining();
            if (!remaining.isPositive()) {
                throw new RdmaTimeoutException(operation, id + " is connected after " + timeout, "");
            }
            try (CmEvent event = channel.await(remaining)) {
                if (event != null) {
                    handle(event);
                }
            } catch (ClosedException closed) {
                return;
            }
        }
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
        Cleanup.runAll(List.of(id::close, channel::close));
    }
}
