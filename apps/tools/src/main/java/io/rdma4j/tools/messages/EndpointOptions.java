package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.ToolEnvironment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The server's address and port.
 *
 * @param server {@code -s}: the server's address as typed, or null for none
 * @param port {@code -p}: the server's port as typed
 */
record EndpointOptions(@Nullable String server, String port) {
    static final String DEFAULT_PORT = "7471";

    /** Returns the usage text that C prints for rdma_client and rdma_server, beginning with the name of the tool. */
    static String usage(String tool) {
        return "usage: " + tool + "\n\t[-s server_address]\n\t[-p port_number]\n";
    }

    /**
     * Parses a command line of rdma_client or rdma_server. Returns null after printing an error message if it is
     * invalid.
     */
    static @Nullable EndpointOptions read(
            String tool, String defaultServer, List<String> arguments, ToolEnvironment environment) {
        Getopt options = new Getopt(tool, "s:p:", arguments, environment.err());
        String server = defaultServer;
        String port = DEFAULT_PORT;
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            switch (letter) {
                case 's' -> server = options.argumentOrEmpty();
                case 'p' -> port = options.argumentOrEmpty();
                default -> {
                    environment.out().print(usage(tool));
                    return null;
                }
            }
        }
        return new EndpointOptions(server, port);
    }
}
