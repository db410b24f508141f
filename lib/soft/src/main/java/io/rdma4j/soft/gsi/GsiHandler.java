package io.rdma4j.soft.gsi;

import io.rdma4j.sharing.Port;
import io.rdma4j.wire.Packet;

/** The handler of queue pair 1, the general services interface: the connection manager. */
@FunctionalInterface
public interface GsiHandler {
    /**
     * Processes a management datagram of queue pair 1. Called under the engine lock.
     *
     * @param nowNanos time of the engine
     * @param port the local address that it arrived at; its frame's source is the peer's address, even if another
     *     process relayed it
     * @param packet UD SEND with valid ICRC, partition key and queue key; valid during the call only
     */
    void onGsiPacket(long nowNanos, Port port, Packet packet);
}
