package io.rdma4j.tools.rping;

import io.rdma4j.tools.command.ToolReport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The options of a run of rping.
 *
 * @param server true for a server, false for a client
 * @param persistent {@code -P}: true to serve any number of clients until the process is killed
 * @param address {@code -a} and {@code -p}: the address to listen on or to connect to
 * @param source {@code -I}: the address that the client connects from, or null
 * @param count {@code -C}: the number of pings; 0 for no limit
 * @param sizeBytes {@code -S}: the size of the data. It may be outside the documented range: as in C, a valid address
 *     after an invalid size clears the error.
 * @param verbose {@code -v}: true to print the data
 * @param validate {@code -V}: true if the client compares the received data
 * @param debug {@code -d}: true to print every step
 * @param ownQueuePair {@code -q}: true to create and modify the queue pair without the connection manager
 */
record RpingOptions(
        boolean server,
        boolean persistent,
        InetSocketAddress address,
        @Nullable InetAddress source,
        int count,
        int sizeBytes,
        boolean verbose,
        boolean validate,
        boolean debug,
        boolean ownQueuePair) {
    /** The default port. */
    static final int DEFAULT_PORT = 7174;

    /** The default size of the data. */
    static final int DEFAULT_SIZE_BYTES = 64;

    /** The smallest size that {@code -S} accepts: the text before the data, and a number. */
    static final int MINIMUM_SIZE_BYTES = 23;

    /** One more than the largest size that {@code -S} accepts. */
    static final int SIZE_LIMIT_BYTES = 64 * 1024;

    /** Returns these options for one side of a warm-up in which the client sends {@code pings} pings. */
    RpingOptions forWarmUp(InetSocketAddress meeting, boolean isServer, int pings) {
        return new RpingOptions(isServer, false, meeting, null, pings, sizeBytes, false, validate, false, ownQueuePair);
    }

    /** Adds the parameters to a report. */
    void addTo(ToolReport report) {
        report.parameter("role", server ? "server" : "client")
                .parameter("address", address.getAddress().getHostAddress())
                .parameter("port", address.getPort())
                .parameter("source", source == null ? null : source.getHostAddress())
                .parameter("count", count)
                .parameter("sizeBytes", sizeBytes)
                .parameter("validate", validate)
                .parameter("persistent", persistent)
                .parameter("ownQueuePair", ownQueuePair);
    }
}
