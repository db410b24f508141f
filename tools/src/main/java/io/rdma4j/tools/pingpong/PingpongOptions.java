package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.PathMtu;
import org.jspecify.annotations.Nullable;

/**
 * What a ping-pong is to do.
 *
 * @param server name or address of the server, or null to be the server
 * @param tcpPort {@code -p}: port of the exchange of addresses
 * @param device {@code -d}: name of the device, or null for the first
 * @param port {@code -i}: port of the device
 * @param sizeBytes {@code -s}: bytes of a message, an unsigned 32-bit number
 * @param mtu {@code -m}: path MTU
 * @param queuePairs {@code -q}: queue pairs to use
 * @param receiveDepth {@code -r}: receives to post at a time
 * @param exchanges {@code -n}: messages each way, of all queue pairs together
 * @param events {@code -e}: sleep until a completion event instead of polling
 * @param gidIndex {@code -g}: which GID of the port to use; negative for none
 * @param timestamps {@code -t}: take timestamps of completions
 * @param validate {@code -c}: look at the data received
 * @param onDemand {@code -o}, {@code -O}: register memory on demand
 * @param deviceMemory {@code -j}: use memory of the device
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
        int exchanges,
        boolean events,
        int gidIndex,
        boolean timestamps,
        boolean validate,
        boolean onDemand,
        boolean deviceMemory) {
    /** Port of the exchange of addresses unless {@code -p} says otherwise. */
    static final int DEFAULT_TCP_PORT = 18515;

    boolean isClient() {
        return server != null;
    }
}
