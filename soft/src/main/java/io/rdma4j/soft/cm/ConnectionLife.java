package io.rdma4j.soft.cm;

import io.rdma4j.soft.events.ConnectionEndEvent;
import io.rdma4j.soft.events.ConnectionSetupEvent;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.verbs.Device;
import org.jspecify.annotations.Nullable;

/**
 * Reports the setup and the end of one connection to Flight Recorder. Guarded by the engine's lock.
 *
 * <p>Without a recording it remembers three numbers and a flag.
 */
final class ConnectionLife {
    static final String DISCONNECTED = "disconnected by this side";
    static final String UNCONFIRMED = "disconnected by this side, the peer did not confirm";
    static final String DISCONNECTED_BY_PEER = "disconnected by the peer, or the peer's process has exited";
    static final String REJECTED = "rejected by this side";
    static final String UNREACHABLE = "the peer did not answer";
    static final String CLOSED = "identifier closed";

    private final SoftCmId id;
    private boolean active;
    private int queuePair;
    private int peerQueuePair;
    private boolean isOpen;
    private long openedNanos;
    private @Nullable ConnectionSetupEvent setup;

    ConnectionLife(SoftCmId id) {
        this.id = id;
    }

    /** Begins the setup. */
    void begin(boolean isActive) {
        active = isActive;
        if (FlightEvents.isOn()) {
            ConnectionSetupEvent event = new ConnectionSetupEvent();
            event.begin();
            setup = event;
        }
    }

    /** Sets the number of the local queue pair. */
    void queuePair(int number) {
        queuePair = number;
    }

    /** Sets the number of the peer's queue pair. */
    void peerQueuePair(int number) {
        peerQueuePair = number;
    }

    /** Ends the setup with success. */
    void opened(long nowNanos) {
        isOpen = true;
        openedNanos = nowNanos;
        setUp(true, "");
    }

    /** Ends the setup without a connection, or an open connection. Only the first end counts. */
    void ended(long nowNanos, String reason) {
        if (!isOpen) {
            setUp(false, reason);
            return;
        }
        isOpen = false;
        if (FlightEvents.isOn()) {
            writeEnd(nowNanos - openedNanos, reason);
        }
    }

    private void setUp(boolean isSuccess, String reason) {
        ConnectionSetupEvent event = setup;
        setup = null;
        if (event == null || !event.shouldCommit()) {
            return;
        }
        event.local = FlightEvents.address(id.localAddress());
        event.peer = FlightEvents.address(id.peerAddress());
        event.device = deviceName();
        event.active = active;
        event.queuePair = FlightEvents.queuePair(queuePair);
        event.peerQueuePair = FlightEvents.queuePair(peerQueuePair);
        event.result = isSuccess ? ConnectionSetupEvent.ESTABLISHED : reason;
        event.commit();
    }

    private void writeEnd(long lifetimeNanos, String reason) {
        ConnectionEndEvent event = new ConnectionEndEvent();
        if (event.shouldCommit()) {
            event.local = FlightEvents.address(id.localAddress());
            event.peer = FlightEvents.address(id.peerAddress());
            event.device = deviceName();
            event.active = active;
            event.queuePair = FlightEvents.queuePair(queuePair);
            event.peerQueuePair = FlightEvents.queuePair(peerQueuePair);
            event.lifetime = lifetimeNanos;
            event.reason = reason;
            event.commit();
        }
    }

    private String deviceName() {
        Device device = id.device();
        return device == null ? "" : device.name();
    }
}
