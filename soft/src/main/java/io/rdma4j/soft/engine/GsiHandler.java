package io.rdma4j.soft.engine;

import io.rdma4j.wire.Packet;
import java.util.List;

/** The handler of queue pair 1, the general services interface: the connection manager. */
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

    /**
     * Processes the exit of a process that shared an address, whatever its cause. Called under the engine lock.
     *
     * @param port the address
     * @param slot the process' slot: the upper byte of its communication IDs and queue pair numbers
     */
    void onProcessExited(Port port, int slot);

    /**
     * Disconnects connections on behalf of a process that has exited. Called under the engine lock, after {@link
     * #onProcessExited}.
     *
     * @param port the address that the process used
     * @param crashDisconnects its connections with other addresses
     */
    void onCrashDisconnects(Port port, List<CrashDisconnect> crashDisconnects);
}
