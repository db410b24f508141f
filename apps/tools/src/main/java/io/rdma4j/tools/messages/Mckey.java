package io.rdma4j.tools.messages;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.util.List;

/**
 * {@code mckey}: sends messages to a multicast group or receives them.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/mckey.md} lists the
 * differences.
 */
public final class Mckey implements Tool {
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
        return MckeyCommandLine.USAGE + EXAMPLES + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(MckeyCommandLine.OPTIONS);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            MckeyOptions options = new MckeyCommandLine(environment).read(arguments);
            options.addTo(environment.report());
            return new MckeyRun(options, environment).run();
        } catch (ToolFailure e) {
            return e.status();
        }
    }
}
