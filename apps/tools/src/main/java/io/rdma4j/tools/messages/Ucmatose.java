package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PortSpace;
import java.util.List;

/**
 * {@code ucmatose}: opens connections, exchanges messages in both directions and disconnects.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/ucmatose.md} lists the
 * differences.
 */
public final class Ucmatose implements Tool {
    private static final String DEFAULT_PORT = "7471";

    private static final String EXAMPLES = """

        Without -s it runs as the server. Start both sides with the same -c, -C and -S. The defaults are one
        connection, 10 messages each way, 100 bytes per message, and port 7471.

        examples:
          ucmatose                              serve one connection on every IPv4 address
          ucmatose -s 192.0.2.1                 one connection
          ucmatose -c 64 -C 100 -S 4096         serve 64 connections, 100 messages of 4 KiB each way
          ucmatose -s 192.0.2.1 -c 64 -C 100 -S 4096
          ucmatose -s ::1 -b ::1 -f ip -m       IPv6; the identifiers move to another event channel

        """;

    /** Creates the tool. */
    public Ucmatose() {}

    @Override
    public String name() {
        return "ucmatose";
    }

    @Override
    public String summary() {
        return "many connections at a time, with messages both ways";
    }

    @Override
    public String help() {
        return MessageCommandLine.usage(name(), MessageCommandLine.UCMATOSE) + EXAMPLES + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(MessageCommandLine.UCMATOSE);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            MessageOptions options = new MessageCommandLine(name(), PortSpace.TCP, DEFAULT_PORT, environment)
                    .read(arguments, MessageCommandLine.UCMATOSE);
            options.addTo(environment.report());
            return new UcmatoseRun(options, environment).run();
        } catch (ToolFailure e) {
            return e.status();
        }
    }
}
