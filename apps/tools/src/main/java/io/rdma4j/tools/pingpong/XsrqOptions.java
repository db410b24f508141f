package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.ToolReport;
import io.rdma4j.value.PathMtu;
import org.jspecify.annotations.Nullable;

/**
 * The options of ibv_xsrq_pingpong.
 *
 * @param server the name or address of the server, or null to be the server
 * @param tcpPort {@code -p}: the TCP port of the address exchange
 * @param device {@code -d}: the name of the device, or null for the first
 * @param port {@code -i}: the port of the device
 * @param sizeBytes {@code -s}: the size of a message in bytes
 * @param mtu {@code -m}: the path MTU
 * @param clients {@code -c}: the number of clients of a server, 1 in a client
 * @param tests {@code -n}: the number of messages in each direction, for each client
 * @param events {@code -e}: true to wait for completion events instead of polling
 * @param onDemand {@code -o}: true to register memory on demand
 * @param serviceLevel {@code -l}: the service level, a priority on network cards
 * @param gidIndex {@code -g}: the index in the port's GID table, or negative if not given
 */
record XsrqOptions(
        @Nullable String server,
        int tcpPort,
        @Nullable String device,
        int port,
        int sizeBytes,
        PathMtu mtu,
        int clients,
        int tests,
        boolean events,
        boolean onDemand,
        int serviceLevel,
        int gidIndex) {
    /** Returns whether there is a server to connect to. */
    boolean isClient() {
        return server != null;
    }

    /** Returns the number of messages that this side receives. */
    long messages() {
        return (long) clients * tests;
    }

    /** Adds the parameters to the JSON report. */
    void report(ToolReport report) {
        report.parameter("server", server)
                .parameter("tcpPort", tcpPort)
                .parameter("device", device)
                .parameter("port", port)
                .parameter("sizeBytes", sizeBytes)
                .parameter("mtuBytes", mtu.bytes())
                .parameter("clients", clients)
                .parameter("tests", tests)
                .parameter("events", events)
                .parameter("gidIndex", gidIndex);
    }
}
