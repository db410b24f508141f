package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.ToolReport;
import org.jspecify.annotations.Nullable;

/**
 * The options of rcopy.
 *
 * @param port {@code -p}: the server's port as typed
 * @param copy the file to copy, or null to be the server
 */
record RcopyOptions(String port, @Nullable Copy copy) {
    /**
     * A file to copy and its destination.
     *
     * @param source the local path
     * @param server the name or address of the server
     * @param destination the path at the server
     * @param port the server's port as typed
     */
    record Copy(String source, String server, String destination, String port) {}

    void report(ToolReport report) {
        report.parameter("role", copy == null ? "server" : "client").parameter("port", port);
        if (copy != null) {
            report.parameter("source", copy.source())
                    .parameter("server", copy.server())
                    .parameter("destination", copy.destination());
        }
    }
}
