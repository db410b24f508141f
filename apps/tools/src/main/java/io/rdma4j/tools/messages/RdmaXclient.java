package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;

/**
 * {@code rdma_xclient}: connects to {@link RdmaXserver} and sends it a message, over RC or XRC.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/rdma_xclient.md} lists the
 * differences.
 */
public final class RdmaXclient implements Tool {
    private static final String EXAMPLES = """

        The defaults are the address 127.0.0.1 and port 7471, on which rdma_xserver listens.

        examples:
          rdma_xclient                           a server on this machine
          rdma_xclient -c x                      a server on this machine that was started with -c x
          rdma_xclient -s 192.0.2.1 -p 7500

        """;

    /** Creates the tool. */
    public RdmaXclient() {}

    @Override
    public String name() {
        return "rdma_xclient";
    }

    @Override
    public String summary() {
        return "a message to rdma_xserver, over RC or XRC";
    }

    @Override
    public String help() {
        return EndpointCommandLine.usage(name(), EndpointCommandLine.EXTENDED_CLIENT)
                + EXAMPLES
                + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(EndpointCommandLine.EXTENDED_CLIENT);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            EndpointCommandLine line =
                    new EndpointCommandLine(name(), EndpointCommandLine.EXTENDED_CLIENT, "127.0.0.1", environment);
            return new Run(line.readCommunication(arguments), environment).run();
        } catch (ToolFailure e) {
            return e.status();
        }
    }

    private static final class Run extends CommunicationRun {
        private int sharedReceiveQueue;

        Run(CommunicationOptions options, ToolEnvironment environment) {
            super("client", options, environment);
        }

        @Override
        void exchange() throws ToolFailure {
            AddressInformation server = lookUp(communication.hints(QueuePairType.XRC_SEND));
            try (CmId id = call(
                    "rdma_create_ep",
                    () -> ConnectionManager.ofProcess().createEndpoint(server, attributes(true, false)))) {
                runConnection(id, memory -> connect(id), memory -> send(id, memory));
            }
        }

        private void connect(CmId id) throws ToolFailure {
            step("rdma_connect", () -> id.connect());
            if (communication.extended()) {
                byte[] privateData =
                        Objects.requireNonNull(id.event()).connection().privateData();
                sharedReceiveQueue = ByteBuffer.wrap(privateData).getInt();
            }
        }

        private void send(CmId id, MemoryRegion memory) throws ToolFailure {
            SendWorkRequest message = new SendWorkRequest()
                    .reset(0)
                    .from(memory, 0, MESSAGE_BYTES)
                    .inline();
            if (communication.extended()) {
                message.toSharedReceiveQueue(sharedReceiveQueue);
            }
            step("rdma_post_send", () -> Objects.requireNonNull(id.queuePair()).postSend(message));
            if (!awaitSend("rdma_get_recv_comp", id)) {
                throw new ToolFailure(-Errno.EIO.number());
            }
        }
    }
}
