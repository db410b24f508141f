package io.rdma4j.tools.pingpong;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PathMtu;
import org.jspecify.annotations.Nullable;

/**
 * The options of a ping-pong.
 *
 * @param server the name or address of the server, or null to be the server
 * @param tcpPort {@code -p}: the TCP port of the address exchange
 * @param device {@code -d}: the name of the device, or null for the first
 * @param port {@code -i}: the port of the device
 * @param sizeBytes {@code -s}: the size of a message in bytes, an unsigned 32-bit number
 * @param mtu {@code -m}: the path MTU
 * @param queuePairs {@code -q}: the number of queue pairs
 * @param receiveDepth {@code -r}: the number of receives to post at a time
 * @param serviceLevel {@code -l}: the service level, a priority on network cards
 * @param exchanges {@code -n}: the number of messages in each direction, for all queue pairs together
 * @param events {@code -e}: true to wait for completion events instead of polling
 * @param gidIndex {@code -g}: the index in the port's GID table, or negative if not given
 * @param timestamps {@code -t}: true to take timestamps of completions
 * @param validate {@code -c}: true to check the received data
 * @param onDemand {@code -o}, {@code -O}: true to register memory on demand
 * @param implicitOnDemand {@code -O}: true to register the whole address space on demand
 * @param deviceMemory {@code -j}: true to use memory of the device
 */
record PingpongOptions(
        @Nullable String server,
        int tcpPort,
        @Nullable String device,
        int port,
        long sizeBytes,
        PathMtu mtu,
        int queuePairs,
        int receiveDepth,
        int serviceLevel,
        int exchanges,
        boolean events,
        int gidIndex,
        boolean timestamps,
        boolean validate,
        boolean onDemand,
        boolean implicitOnDemand,
        boolean deviceMemory) {
    /** The default TCP port of the address exchange. */
    static final int DEFAULT_TCP_PORT = 18515;

    /** Returns the access flags of the memory. */
    AccessFlag[] access() {
        return onDemand
                ? new AccessFlag[] {AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND}
                : new AccessFlag[] {AccessFlag.LOCAL_WRITE};
    }

    boolean isClient() {
        return server != null;
    }
}
