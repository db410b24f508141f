package io.rdma4j;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.wait.WaitDriver;
import java.time.Duration;

/** The events of one established connection, all of which concern its end. Thread safe. */
final class ConnectionEvents extends ChannelEvents {
    ConnectionEvents(EventChannel channel, CmId id) {
        super(channel, id);
    }

    @Override
    void handle(CmEvent event) {
        switch (event.type()) {
            case DISCONNECTED -> end(id() + " was disconnected"); // answers the peer, and flushes the work requests
            case DEVICE_REMOVAL -> end("the device of " + id() + " was removed");
            default -> {} // changes of addresses and the end of time-wait concern no call
        }
    }

    /** Disconnects, unless the connection has ended already: the peer is notified, and the work requests are flushed. */
    @Override
    void flush() {
        try {
            id().disconnect();
        } catch (RdmaException alreadyEnded) {
            // The connection no longer exists, as intended.
            return;
        }
    }

    /** Waits until the connection has ended or is closed. */
    void awaitEnd(String operation, Duration timeout) {
        WaitDriver driver = channel().waitDriver();
        long deadlineNanos = driver.deadlineNanos(timeout);
        handle();
        while (!isOver()) {
            if (!signal().await(driver, () -> isReady() || isOver(), deadlineNanos) && !isOver()) {
                throw Thread.currentThread().isInterrupted()
                        ? new InterruptedRdmaException(operation, id().toString(), "")
                        : new RdmaTimeoutException(operation, id() + " is still connected", "");
            }
            handle();
        }
    }

    private boolean isOver() {
        return isEnded() || isClosed();
    }

    /** Waits until the peer has confirmed that this side disconnects. Does not throw. */
    void awaitDisconnected(Duration timeout) {
        try {
            awaitEnd("close", timeout);
        } catch (RdmaException notConfirmed) {
            return; // the peer has disconnected, or the thread is interrupted and should not wait
        }
    }
}
