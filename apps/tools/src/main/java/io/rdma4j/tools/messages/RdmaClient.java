package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.util.List;

/**
 * {@code rdma_client}: connects to {@link RdmaServer}, sends a message and receives one.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/rdma_client.md} lists the
 * differences.
 */
public final class RdmaClient implements Tool {
    private static final String EXAMPLES = """

        The defaults are the address 127.0.0.1 and port 7471, on which rdma_server listens.

        examples:
          rdma_client                            a server on this machine
          rdma_client -s 192.0.2.1 -p 7500
          rdma_client -s fe80::1%eth0            IPv6

        """;

    /** Creates the tool. */
    public RdmaClient() {}

    @Override
    public String name() {
        return "rdma_client";
    }

    @Override
    public String summary() {
        return "one connection with a message each way, to rdma_server";
    }

    @Override
    public String help() {
        return EndpointCommandLine.usage(name(), EndpointCommandLine.CLIENT) + EXAMPLES + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(EndpointCommandLine.CLIENT);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            EndpointCommandLine line =
                    new EndpointCommandLine(name(), EndpointCommandLine.CLIENT, "127.0.0.1", environment);
            return new Run(line.read(arguments), environment).run();
        } catch (ToolFailure e) {
            return e.status();
        }
    }

    private static final class Run extends EchoRun {
        Run(EndpointOptions options, ToolEnvironment environment) {
            super("client", options, environment);
        }

        @Override
        void exchange() throws ToolFailure {
            AddressInformation server = lookUp();
            try (CmId id =
                    call("rdma_create_ep", () -> ConnectionManager.ofProcess().createEndpoint(server, ATTRIBUTES))) {
                runConnection(id, "rdma_connect", () -> id.connect());
            }
        }

        @Override
        void exchange(Messages messages) throws ToolFailure {
            messages.send();
            messages.awaitSend();
            messages.awaitReceive(); // which also confirms that the server has received the message
        }
    }
}
