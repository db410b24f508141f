package io.rdma4j.tools.sockets;

import io.rdma4j.tools.Getopt;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.tools.ToolReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What rcopy is asked for.
 *
 * @param port {@code -p}: the server's port as typed
 * @param copy what to copy, or null to be the server
 */
record RcopyOptions(String port, @Nullable Copy copy) {
    private static final String DEFAULT_PORT = "7427";

    /**
     * A file and where it goes.
     *
     * @param source path here
     * @param server name or address
     * @param destination path there
     * @param port the server's port as typed
     */
    record Copy(String source, String server, String destination, String port) {}

    /** Reads a command line; null if it makes no sense. A first word that is an option makes a server, as in C. */
    static @Nullable RcopyOptions read(String tool, List<String> arguments, ToolEnvironment environment) {
        boolean serves = arguments.isEmpty() || arguments.getFirst().startsWith("-");
        if (!serves && arguments.size() < 2) {
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
        return new RcopyOptions(port, serves ? null : copy(arguments.getFirst(), arguments.get(1), port));
    }

    private static Copy copy(String source, String place, String port) {
        // An IPv6 address has colons of its own: in brackets, which C does not know.
        int end = place.startsWith("[") ? place.indexOf(']') : -1;
        int colon = place.indexOf(':', end < 0 ? 0 : end);
        String server = colon < 0 ? place : place.substring(0, colon);
        if (end > 0 && server.length() == end + 1) {
            server = server.substring(1, end);
        }
        return new Copy(source, server, colon < 0 ? source : place.substring(colon + 1), port);
    }

    void tell(ToolReport report) {
        report.parameter("role", copy == null ? "server" : "client").parameter("port", port);
        if (copy != null) {
            report.parameter("source", copy.source())
                    .parameter("server", copy.server())
                    .parameter("destination", copy.destination());
        }
    }
}
