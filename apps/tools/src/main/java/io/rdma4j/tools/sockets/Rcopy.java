package io.rdma4j.tools.sockets;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.ServiceLookup;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Explanation;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.util.List;

/**
 * {@code rcopy}: copies a file to another machine over an RDMA socket, with the options, lines and exit statuses of
 * librdmacm's tool. {@code docs/tools/rcopy.md} lists the differences.
 */
public final class Rcopy implements Tool {
    private static final String EXAMPLES = """

        The server writes any file that a client names, with the permissions of the user who started it: run it in
        trusted networks only. The default port is 7427. An IPv6 address is written in brackets.

        examples:
          rcopy                                  the server
          rcopy disk.img 192.0.2.1:/tmp/disk.img
          rcopy disk.img [2001:db8::1]:disk.img -p 7500

        """;

    /** Creates the tool. */
    public Rcopy() {}

    @Override
    public String name() {
        return "rcopy";
    }

    @Override
    public String summary() {
        return "copies a file to another machine over an RDMA socket";
    }

    @Override
    public String help() {
        return RcopyCommandLine.USAGE + EXAMPLES + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(RcopyCommandLine.OPTIONS);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            RcopyOptions options = new RcopyCommandLine(environment).read(arguments);
            options.report(environment.report());
            return options.copy() == null
                    ? new RcopyServer(environment).run(ServiceLookup.port("getaddrinfo", options.port(), null))
                    : new RcopyClient(options.copy(), environment).run();
        } catch (AddressLookupException e) {
            environment.out().println("getaddrinfo failed: " + e.reason().text());
            environment.err().println("rcopy: " + e.getMessage());
            return e.code();
        } catch (ToolFailure failure) {
            return failure.status();
        }
    }

    /** Opens a socket. */
    static RdmaStreamSocket open(ToolEnvironment environment) throws ToolFailure {
        try {
            return RdmaStreamSocket.open();
        } catch (RdmaException e) {
            environment.err().println("No RDMA devices were detected");
            environment.err().println("rcopy: " + Explanation.of(e));
            throw new ToolFailure(StreamRun.FAILED);
        }
    }

    /** Prints which call failed, and why. */
    static ToolFailure failure(ToolEnvironment environment, String name, IOException e) {
        environment.err().println(name + ": " + Failures.text(e));
        String detail = Failures.explanation(name.strip(), e);
        if (!detail.isEmpty()) {
            environment.err().println("rcopy: " + detail);
        }
        return new ToolFailure(StreamRun.FAILED);
    }
}
