package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * {@code rdma_xserver}: accepts one connection of {@link RdmaXclient}, RC or XRC, and receives its message.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/rdma_xclient.md} lists the
 * differences.
 */
public final class RdmaXserver implements Tool {
    private static final String EXAMPLES = """

        It listens on every IPv4 address, by default on port 7471. It ends after one rdma_xclient.

        examples:
          rdma_xserver                           a reliable connection
          rdma_xserver -c x -p 7500              an extended one, with a shared receive queue

        """;

    /** Creates the tool. */
    public RdmaXserver() {}

    @Override
    public String name() {
        return "rdma_xserver";
    }

    @Override
    public String summary() {
        return "the server of rdma_xclient: a message over RC or XRC";
    }

    @Override
    public String help() {
        return EndpointCommandLine.usage(name(), EndpointCommandLine.EXTENDED_SERVER)
                + EXAMPLES
                + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(EndpointCommandLine.EXTENDED_SERVER);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            EndpointCommandLine line =
                    new EndpointCommandLine(name(), EndpointCommandLine.EXTENDED_SERVER, null, environment);
            return new Run(line.readCommunication(arguments), environment).run();
        } catch (ToolFailure e) {
            return e.status();
        }
    }

    private static final class Run extends CommunicationRun {
        Run(CommunicationOptions options, ToolEnvironment environment) {
            super("server", options, environment);
        }

        @Override
        void exchange() throws ToolFailure {
            AddressInformation local =
                    lookUp(communication.hints(QueuePairType.XRC_RECEIVE, AddressInformation.Flag.PASSIVE));
            try (CmId listener = call(
                    "rdma_create_ep",
                    () -> ConnectionManager.ofProcess().createEndpoint(local, attributes(false, true)))) {
                step("rdma_listen", () -> listener.listen(0));
                try (CmId id = call("rdma_get_request", listener::getRequest)) {
                    int queue = communication.extended() ? createSharedReceiveQueue(id) : 0;
                    runConnection(id, memory -> accept(id, queue, memory), memory -> awaitReceive(id));
                }
            }
        }

        private int createSharedReceiveQueue(CmId id) throws ToolFailure {
            SharedReceiveQueueInitAttributes one = SharedReceiveQueueInitAttributes.of(1, 1);
            return call("rdma_create_srq:", () -> id.createSharedReceiveQueue(one))
                    .number();
        }

        /**
         * Accepts with all parameters 0 and the number of the shared receive queue, which the client needs, as private
         * data.
         */
        private void accept(CmId id, int queue, MemoryRegion memory) throws ToolFailure {
            step("rdma_post_recv", () -> postReceive(id, memory));
            byte[] privateData =
                    ByteBuffer.allocate(Integer.BYTES).putInt(queue).array();
            step("rdma_accept", () -> id.accept(ConnectionParameters.NONE.withPrivateData(privateData)));
        }
    }
}
