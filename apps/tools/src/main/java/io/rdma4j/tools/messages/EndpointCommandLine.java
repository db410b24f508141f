package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A parser of the command lines of rdma_client, rdma_server, rdma_xclient and rdma_xserver. */
final class EndpointCommandLine {
    /** The options of rdma_client. */
    static final OptionTable<EndpointCommandLine> CLIENT =
            pair("Address of the server (127.0.0.1).", "Port of the server (7471).");

    /** The options of rdma_server. */
    static final OptionTable<EndpointCommandLine> SERVER =
            pair("Address to listen on (0.0.0.0, every IPv4 address).", "Port to listen on (7471).");

    /** The options of rdma_xclient. */
    static final OptionTable<EndpointCommandLine> EXTENDED_CLIENT = withCommunication(
            OptionTable.<EndpointCommandLine>tabbed()
                    .option(
                            "[-s server]",
                            "",
                            "Address of the server (127.0.0.1).",
                            (line, value) -> line.server = value)
                    .option(
                            "[-p port_number]",
                            "",
                            "Port of the server (7471); only its first five digits are used.",
                            (line, value) -> line.port =
                                    value.substring(0, Math.min(value.length(), EndpointCommandLine.PORT_DIGITS))),
            "; the server must use the same.");

    /** The options of rdma_xserver. */
    static final OptionTable<EndpointCommandLine> EXTENDED_SERVER = withCommunication(
            OptionTable.<EndpointCommandLine>tabbed()
                    .option("[-p port_number]", "", "Port to listen on (7471).", (line, value) -> line.port = value),
            ", which receives from a shared receive queue; the client must use the same.");

    /** The number of characters that C's client keeps of the port. */
    private static final int PORT_DIGITS = 5;

    private final String tool;
    private final OptionTable<EndpointCommandLine> options;
    private final ToolEnvironment environment;
    private @Nullable String server;
    private String port = "7471";
    private boolean extended;

    /**
     * Creates a parser.
     *
     * @param options the options of the tool
     * @param server the server's address by default, or null for none
     */
    EndpointCommandLine(
            String tool,
            OptionTable<EndpointCommandLine> options,
            @Nullable String server,
            ToolEnvironment environment) {
        this.tool = tool;
        this.options = options;
        this.server = server;
        this.environment = environment;
    }

    private static OptionTable<EndpointCommandLine> pair(String server, String port) {
        return OptionTable.<EndpointCommandLine>tabbed()
                .option("[-s server_address]", "", server, (line, value) -> line.server = value)
                .option("[-p port_number]", "", port, (line, value) -> line.port = value);
    }

    private static OptionTable<EndpointCommandLine> withCommunication(
            OptionTable<EndpointCommandLine> table, String end) {
        return table.option(
                "[-c communication type]",
                "\n\t    r - RC: reliable-connected (default)\n\t    x - XRC: extended-reliable-connected",
                "`r` for a reliable connection, which is the default, `x` for an extended one (XRC)" + end,
                EndpointCommandLine::takeCommunication);
    }

    /** Returns the usage text that C prints. */
    static String usage(String tool, OptionTable<EndpointCommandLine> options) {
        return "usage: " + tool + "\n" + options.usage();
    }

    /**
     * Parses the command line of rdma_client or rdma_server.
     *
     * @throws ToolFailure if it is invalid; the reason has been printed
     */
    EndpointOptions read(List<String> arguments) throws ToolFailure {
        var _ = options.parse(tool, arguments, this, environment.err(), _ -> usage());
        return new EndpointOptions(server, port);
    }

    /**
     * Parses the command line of rdma_xclient or rdma_xserver.
     *
     * @throws ToolFailure if it is invalid; the reason has been printed
     */
    CommunicationOptions readCommunication(List<String> arguments) throws ToolFailure {
        EndpointOptions endpoint = read(arguments);
        return new CommunicationOptions(endpoint, extended);
    }

    private void takeCommunication(String value) throws ToolFailure {
        String kind = value.toLowerCase(Locale.ROOT);
        if (kind.startsWith("x")) {
            extended = true; // a later r does not reset it, as in C
        } else if (!kind.startsWith("r")) {
            throw usage();
        }
    }

    private ToolFailure usage() {
        environment.out().print(usage(tool, options));
        return new ToolFailure(1);
    }
}
