package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PortSpace;
import java.util.List;

/**
 * {@code udaddy}: resolves datagram services and exchanges messages with them in both directions.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/udaddy.md} lists the
 * differences.
 */
public final class Udaddy implements Tool {
    private static final String PORT = "7174";

    private static final String EXAMPLES = """

        Without -s it runs as the server. Start both sides with the same -c, -C and -S. The defaults are one service,
        10 messages each way, and 100 bytes per message. -S must not exceed the path MTU. The port is always 7174.

        examples:
          udaddy                          serve one client on every IPv4 address
          udaddy -s 192.0.2.1             one client
          udaddy -s ::1 -c 8 -S 1024      eight, over IPv6, with messages of 1 KiB

        """;

    /** Creates the tool. */
    public Udaddy() {}

    @Override
    public String name() {
        return "udaddy";
    }

    @Override
    public String summary() {
        return "datagrams to services that the connection manager finds";
    }

    @Override
    public String help() {
        return MessageCommandLine.usage(name(), MessageCommandLine.UDADDY) + EXAMPLES + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(MessageCommandLine.UDADDY);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            MessageOptions options = new MessageCommandLine(name(), PortSpace.UDP, PORT, environment)
                    .read(arguments, MessageCommandLine.UDADDY);
            options.addTo(environment.report());
            return new UdaddyRun(options, environment).run();
        } catch (ToolFailure e) {
            return e.status();
        }
    }
}
