package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.sockets.RcopyOptions.Copy;
import java.util.List;

/** A parser of the command line of rcopy that behaves like C's parser. Used once. */
final class RcopyCommandLine {
    static final OptionTable<RcopyCommandLine> OPTIONS = OptionTable.<RcopyCommandLine>tabbed()
            .option(
                    "[-p  port_number]",
                    "",
                    "Port of the server (7427). As the first word it selects the server.",
                    (line, value) -> line.port = value);

    static final String USAGE = """
        usage 1: rcopy [options]
        \t     starts the server application
        OPTIONS\
        usage 2: rcopy source server[:destination] [options]
        \t     source - file name and path
        \t     server - name or address
        \t     destination - file name and path
        OPTIONS\
        """.replace("OPTIONS", OPTIONS.usage());

    private final ToolEnvironment environment;
    private String port = "7427";

    RcopyCommandLine(ToolEnvironment environment) {
        this.environment = environment;
    }

    /**
     * Parses the command line. If the first argument is an option, this is the server, as in C.
     *
     * @throws ToolFailure if it is invalid; the usage has been printed
     */
    RcopyOptions read(List<String> arguments) throws ToolFailure {
        boolean isServer = arguments.isEmpty() || arguments.getFirst().startsWith("-");
        if (!isServer && arguments.size() < 2) {
            throw usage();
        }
        var _ = OPTIONS.parse("rcopy", arguments, this, environment.err(), _ -> usage());
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

    private ToolFailure usage() {
        environment.out().print(USAGE);
        return new ToolFailure(1);
    }
}
