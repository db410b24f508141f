package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.ToolReport;
import org.jspecify.annotations.Nullable;

/**
 * What a run of the older form is to do.
 *
 * @param server {@code -s}: the server's address as typed, or null to be the server
 * @param source {@code -b}: the local address as typed, or null
 * @param connections {@code -c}
 * @param port {@code -p}: as typed
 * @param retries {@code -r}
 * @param timeoutMillis {@code -t}
 */
record ClassicOptions(
        @Nullable String server,
        @Nullable String source,
        int connections,
        String port,
        int retries,
        int timeoutMillis) {

    /** Tells the parameters to programs. */
    void tell(ToolReport report) {
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
