package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of rcopy.
 *
 * @param port {@code -p}: the server's port as typed
 * @param copy the file to copy, or null to be the server
 */
record RcopyOptions(String port, @Nullable Copy copy) {
    private static final String DEFAULT_PORT = "7427";

    /**
     * A file to copy and its destination.
     *
     * @param source the local path
     * @param server the name or address of the server
     * @param destination the path at the server
     * @param port the server's port as typed
     */
    record Copy(String source, String server, String destination, String port) {}

    /**
     * Parses the command line. Returns null if it is invalid. If the first argument is an option, this is the server,
     * as in C.
     */
    static @Nullable RcopyOptions read(String tool, List<String> arguments, ToolEnvironment environment) {
        boolean isServer = arguments.isEmpty() || arguments.getFirst().startsWith("-");
        if (!isServer && arguments.size() < 2) {
            return null;
        }
        Getopt options = new Getopt(tool, "p:", arguments, environment.err());
        String port = DEFAULT_PORT;
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            if (letter != 'p') {
                return null;
            }
            port = options.argumentOrEmpty();
        }
        return new RcopyOptions(port, isServer ? null : copy(arguments.getFirst(), arguments.get(1), port));
    }

    private static Copy copy(String source, String target, String port) {
        // An IPv6 address contains colons, so it is written in brackets, which C's tool does not support.
        int end = target.startsWith("[") ? target.indexOf(']') : -1;
        int colon = target.indexOf(':', end < 0 ? 0 : end);
        String server = colon < 0 ? target : target.substring(0, colon);
        if (end > 0 && server.length() == end + 1) {
            server = server.substring(1, end);
        }
        return new Copy(source, server, colon < 0 ? source : target.substring(colon + 1), port);
    }

    void report(ToolReport report) {
        report.parameter("role", copy == null ? "server" : "client").parameter("port", port);
        if (copy != null) {
            report.parameter("source", copy.source())
                    .parameter("server", copy.server())
                    .parameter("destination", copy.destination());
        }
    }
}
