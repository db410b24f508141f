package io.rdma4j.soft.cm;

import io.rdma4j.soft.events.ConnectionEndEvent;
import io.rdma4j.soft.events.ConnectionSetupEvent;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.verbs.Device;

/** Writes the setup and the end of connections to Flight Recorder. */
final class ConnectionRecord {
    static final String DISCONNECTED = "disconnected by this side";
    static final String UNCONFIRMED = "disconnected by this side, the peer did not confirm";
    static final String DISCONNECTED_BY_PEER = "disconnected by the peer, or the peer's process has exited";
    static final String REJECTED = "rejected by this side";
    static final String UNREACHABLE = "the peer did not answer";
    static final String CLOSED = "identifier closed";

    private ConnectionRecord() {}

    /** Writes the end of a setup: {@link ConnectionSetupEvent#ESTABLISHED}, or the reason for the failure. */
    static void setUp(ConnectionSetupEvent event, SoftCmId id, CmConnection connection, String result) {
        if (event.shouldCommit()) {
            event.local = FlightEvents.address(id.localAddress());
            event.peer = FlightEvents.address(id.peerAddress());
            event.device = deviceName(id);
            event.active = connection.isActive();
            event.queuePair = FlightEvents.queuePair(connection.localQueuePair());
            event.peerQueuePair = FlightEvents.queuePair(connection.remoteQueuePair());
            event.result = result;
            event.commit();
        }
    }

    /** Writes the end of a connection that was established. */
    static void end(SoftCmId id, CmConnection connection, long lifetimeNanos, String reason) {
        ConnectionEndEvent event = new ConnectionEndEvent();
        if (event.shouldCommit()) {
            event.local = FlightEvents.address(id.localAddress());
            event.peer = FlightEvents.address(id.peerAddress());
            event.device = deviceName(id);
            event.active = connection.isActive();
            event.queuePair = FlightEvents.queuePair(connection.localQueuePair());
            event.peerQueuePair = FlightEvents.queuePair(connection.remoteQueuePair());
            event.lifetime = lifetimeNanos;
            event.reason = reason;
            event.commit();
        }
    }

    private static String deviceName(SoftCmId id) {
        Device device = id.device();
        return device == null ? "" : device.name();
    }
}
