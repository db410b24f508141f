package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.value.PortSpace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code mckey}: sends messages to a multicast group or receives them.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/mckey.md} lists the
 * differences.
 */
public final class Mckey implements Tool {
    private static final String LETTERS = "m:M:sb:c:C:S:p:ol";
    private static final int DEFAULT_MESSAGES = 10;
    private static final int DEFAULT_BYTES = 100;

    private static final String USAGE = """
        usage: mckey
        \t-m multicast_address
        \t[-M unmapped_multicast_address]
        \t replaces -m and requires -b
        \t[-s(ender)]
        \t[-b bind_address]
        \t[-c connections]
        \t[-C message_count]
        \t[-S message_size]
        \t[-p port_space - 0x111 for UDP (default), 0x2 for IPOIB]
        \t[-o join as a send-only full-member]
        \t[-l join without multicast loopback]
        """;

    private static final String EXAMPLES = """

        Start the receivers first, with the same -C as the sender. The defaults are 10 messages of 100 bytes. -S must
        not exceed the path MTU. Messages are datagrams and are not retransmitted.

        examples:
          mckey -m 239.1.1.1 -b 192.0.2.1        receive
          mckey -m 239.1.1.1 -b 192.0.2.2 -s     send
          mckey -m ff0e::101 -b 2001:db8::1 -s   send to an IPv6 group

        """;

    /** Creates the tool. */
    public Mckey() {}

    @Override
    public String name() {
        return "mckey";
    }

    @Override
    public String summary() {
        return "messages to a multicast group, and from it";
    }

    @Override
    public String help() {
        return USAGE + EXAMPLES + CommonOptions.HELP;
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        MckeyOptions options = parse(arguments, environment);
        if (options == null) {
            environment.out().print(USAGE);
            return 1;
        }
        if (options.unmapped() && options.source() == null) {
            environment.out().println("unmapped multicast address requires binding to source address");
            return 1;
        }
        options.addTo(environment.report());
        return new MckeyRun(options, environment).run();
    }

    private static @Nullable MckeyOptions parse(List<String> arguments, ToolEnvironment environment) {
        Getopt options = new Getopt("mckey", LETTERS, arguments, environment.err());
        String group = null;
        String source = null;
        boolean unmapped = false;
        boolean sender = false;
        boolean sendOnly = false;
        boolean loopback = true;
        int connections = 1;
        int count = DEFAULT_MESSAGES;
        int bytes = DEFAULT_BYTES;
        PortSpace space = PortSpace.UDP;
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            String argument = options.argumentOrEmpty();
            switch (letter) {
                case 'm' -> group = argument;
                case 'M' -> {
                    unmapped = true;
                    group = argument;
                }
                case 's' -> sender = true;
                case 'b' -> source = argument;
                case 'c' -> connections = CStrings.atoi(argument);
                case 'C' -> count = CStrings.atoi(argument);
                case 'S' -> bytes = CStrings.atoi(argument);
                case 'p' -> space = MessageCommandLine.portSpace(CStrings.strtol(argument));
                case 'o' -> sendOnly = true;
                case 'l' -> loopback = false;
                default -> {
                    return null;
                }
            }
        }
        if (group == null || space == null || !space.isDatagram() || connections < 1 || count < 0 || bytes < 0) {
            environment
                    .err()
                    .println("mckey: -m must name a group; -p must be 0x111 or 0x2, -c 1 or more, -C and -S 0 or more");
            return null;
        }
        return new MckeyOptions(group, unmapped, sender, source, space, connections, count, bytes, sendOnly, loopback);
    }
}
