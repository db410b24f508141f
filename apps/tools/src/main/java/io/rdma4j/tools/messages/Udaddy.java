package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.value.PortSpace;
import java.util.List;

/**
 * {@code udaddy}: resolves datagram services and exchanges messages with them in both directions.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/udaddy.md} lists the
 * differences.
 */
public final class Udaddy implements Tool {
    private static final String LETTERS = "s:b:c:C:S:t:p:P:f:";
    private static final String PORT = "7174";

    private static final String USAGE = """
        usage: udaddy
        \t[-s server_address]
        \t[-b bind_address]
        \t[-f address_format]
        \t    name, ip, ipv6, or gid
        \t[-P port_space]
        \t    udp or ipoib
        \t[-c connections]
        \t[-C message_count]
        \t[-S message_size]
        \t[-t type_of_service]
        \t[-p port_space - 0x111 for UDP (default), 0x2 for IPOIB]
        """;

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
        return USAGE + EXAMPLES + CommonOptions.HELP;
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        MessageOptions options =
                new MessageCommandLine(name(), LETTERS, PortSpace.UDP, PORT, environment).read(arguments);
        if (options == null) {
            environment.out().print(USAGE);
            return 1;
        }
        options.addTo(environment.report());
        return new UdaddyRun(options, environment).run();
    }
}
