package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.command.ToolReport;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The options of a run of the classic form.
 *
 * @param server {@code -s}: the server's address as typed, or null for a server
 * @param source {@code -b}: the local address as typed, or null
 * @param connections {@code -c}: the number of connections
 * @param port {@code -p}: the server's port as typed
 * @param retries {@code -r}: the number of retries
 * @param timeoutMillis {@code -t}: the timeout of address and route resolution
 */
record ClassicOptions(
        @Nullable String server,
        @Nullable String source,
        int connections,
        String port,
        int retries,
        int timeoutMillis) {

    /** Returns these options for one side of a warm-up, with at most {@code maxConnections} connections. */
    ClassicOptions forWarmUp(InetSocketAddress address, boolean isServer, int maxConnections) {
        return new ClassicOptions(
                isServer ? null : address.getHostString(),
                address.getHostString(),
                Math.min(connections, maxConnections),
                String.valueOf(address.getPort()),
                retries,
                timeoutMillis);
    }

    /** Adds the parameters to a report. */
    void addTo(ToolReport report) {
        report.parameter("form", "classic")
                .parameter("role", server == null ? "server" : "client")
                .parameter("server", server)
                .parameter("source", source)
                .parameter("connections", connections)
                .parameter("port", port)
                .parameter("retries", retries)
                .parameter("timeoutMillis", timeoutMillis);
    }
}
