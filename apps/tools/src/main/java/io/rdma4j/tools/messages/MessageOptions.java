package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.ToolReport;
import io.rdma4j.value.PortSpace;
import org.jspecify.annotations.Nullable;

/**
 * The options of a run of ucmatose or udaddy.
 *
 * @param server {@code -s}: the server's address as typed, or null for a server
 * @param source {@code -b}: the local address as typed, or null
 * @param format {@code -f}: the format of the addresses
 * @param portSpace {@code -P}: the port space
 * @param port {@code -p}: the service or port as typed
 * @param connections {@code -c}: the number of connections
 * @param messageCount {@code -C}: the number of messages of each connection in each direction
 * @param messageBytes {@code -S}: the size of a message
 * @param typeOfService {@code -t}, or -1
 * @param ackTimeout {@code -a}: the exponent, or -1
 * @param migrate {@code -m}: true to move the identifiers to another event channel before they disconnect
 */
record MessageOptions(
        @Nullable String server,
        @Nullable String source,
        Format format,
        PortSpace portSpace,
        String port,
        int connections,
        int messageCount,
        int messageBytes,
        int typeOfService,
        int ackTimeout,
        boolean migrate) {
    /** The format of an address. */
    enum Format {
        /** Names or addresses. */
        NAME,
        /** Addresses only. */
        IP,
        /** GIDs: IPv6 addresses, and IPv4 addresses as {@code ::ffff:192.0.2.1}. */
        GID
    }

    /** Adds the parameters to a report. */
    void addTo(ToolReport report) {
        report.parameter("role", server == null ? "server" : "client")
                .parameter("server", server)
                .parameter("source", source)
                .parameter("portSpace", portSpace.name())
                .parameter("port", port)
                .parameter("connections", connections)
                .parameter("messageCount", messageCount)
                .parameter("messageBytes", messageBytes)
                .parameter("typeOfService", typeOfService < 0 ? null : typeOfService)
                .parameter("ackTimeout", ackTimeout < 0 ? null : ackTimeout)
                .parameter("migrate", migrate);
    }
}
