package io.rdma4j.soft.engine;

import io.rdma4j.sharing.Port;
import io.rdma4j.wire.Packet;

/** Handles packets to queue pair 1, which no machine of the engine drives. */
@FunctionalInterface
public interface ManagementHandler {
    /**
     * Validates and processes a datagram to queue pair 1. Called under the engine lock.
     *
     * @param nowNanos the time of the duty cycle
     * @param port the port that it arrived at
     * @param packet a datagram of the default partition with an unverified ICRC; valid during the call only
     * @param mayRelay true if the datagram may be for another process that shares the address
     */
    void onPacket(long nowNanos, Port port, Packet packet, boolean mayRelay);
}
