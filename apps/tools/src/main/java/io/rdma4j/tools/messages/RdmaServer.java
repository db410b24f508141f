package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.Errno;
import java.util.List;

/**
 * {@code rdma_server}: accepts one connection of {@link RdmaClient}, receives a message and sends one.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/rdma_client.md} lists the
 * differences.
 */
public final class RdmaServer implements Tool {
    private static final String EXAMPLES = """

        By default it listens on port 7471 of every IPv4 address. It ends after one rdma_client.

        examples:
          rdma_server                            every IPv4 address
          rdma_server -s ::                      every address
          rdma_server -s 192.0.2.1 -p 7500

        """;

    /** Creates the tool. */
    public RdmaServer() {}

    @Override
    public String name() {
        return "rdma_server";
    }

    @Override
    public String summary() {
        return "the server of rdma_client: one connection with a message each way";
    }

    @Override
    public String help() {
        return EndpointCommandLine.usage(name(), EndpointCommandLine.SERVER) + EXAMPLES + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(EndpointCommandLine.SERVER);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            EndpointCommandLine line =
                    new EndpointCommandLine(name(), EndpointCommandLine.SERVER, "0.0.0.0", environment);
            return new Run(line.read(arguments), environment).run();
        } catch (ToolFailure e) {
            return e.status();
        }
    }

    private static final class Run extends EchoRun {
        Run(EndpointOptions options, ToolEnvironment environment) {
            super("server", options, environment);
        }

        @Override
        void exchange() throws ToolFailure {
            AddressInformation local = lookUp(AddressInformation.Flag.PASSIVE);
            try (CmId listener =
                    call("rdma_create_ep", () -> ConnectionManager.ofProcess().createEndpoint(local, ATTRIBUTES))) {
                step("rdma_listen", () -> listener.listen(0));
                try (CmId id = call("rdma_get_request", listener::getRequest)) {
                    runConnection(id, "rdma_accept", () -> id.accept());
                }
            }
        }

        @Override
        void exchange(Messages messages) throws ToolFailure {
            messages.awaitReceive();
            messages.send();
            if (!messages.awaitSend()) {
                throw new ToolFailure(-Errno.EIO.number());
            }
        }
    }
}
