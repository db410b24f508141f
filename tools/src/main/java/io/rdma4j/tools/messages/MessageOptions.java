package io.rdma4j.tools.messages;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.tools.ToolReport;
import org.jspecify.annotations.Nullable;

/**
 * What a run of ucmatose or udaddy is to do.
 *
 * @param server {@code -s}: the server's address as typed, or null to be the server
 * @param source {@code -b}: the local address as typed, or null
 * @param format {@code -f}: how addresses are to be read
 * @param portSpace {@code -P}
 * @param port {@code -p}: service or port as typed
 * @param connections {@code -c}
 * @param messageCount {@code -C}: messages of each connection in each direction; 0 for none
 * @param messageBytes {@code -S}: size of a message
 * @param typeOfService {@code -t}, or -1
 * @param ackTimeout {@code -a}: exponent, or -1
 * @param migrate {@code -m}: whether the identifiers move to another channel before they disconnect
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
    /** How addresses are written. */
    enum Format {
        /** Names and addresses. */
        NAME,
        /** Addresses only. */
        IP,
        /** GIDs: IPv6 addresses, and IPv4 addresses as {@code ::ffff:192.0.2.1}. */
        GID
    }

    /** Tells the parameters to programs. */
    void tell(ToolReport report) {
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
