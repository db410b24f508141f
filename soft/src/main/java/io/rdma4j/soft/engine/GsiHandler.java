package io.rdma4j.soft.engine;

import io.rdma4j.wire.Packet;
import java.util.List;

/** Who serves queue pair 1, the general services interface: the connection manager. */
public interface GsiHandler {
    /**
     * Takes a management datagram of queue pair 1. Called under the engine lock.
     *
     * @param nowNanos time of the engine
     * @param port local address that it came to; its frame's source is the peer's address, also where another process
     *     relayed it
     * @param packet UD SEND whose ICRC, partition key and queue key are right; valid during the call only
     */
    void onGsiPacket(long nowNanos, Port port, Packet packet);

    /**
     * Learns that a process which shared an address has ended, by whatever cause. Called under the engine lock.
     *
     * @param port the address
     * @param slot the process' slot: the upper byte of its communication IDs and queue pair numbers
     */
    void onProcessGone(Port port, int slot);

    /**
     * Ends connections of a process that is gone, in its name. Called under the engine lock, after {@link #onProcessGone}.
     *
     * @param port the address that the process used
     * @param crashDisconnects its connections with other addresses
     */
    void onLastWills(Port port, List<CrashDisconnect> crashDisconnects);
}
