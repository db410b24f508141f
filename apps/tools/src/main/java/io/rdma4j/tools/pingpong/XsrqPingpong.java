package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.util.List;

/**
 * {@code ibv_xsrq_pingpong}: SENDs between a server and its clients over extended reliable connections (XRC), with the
 * options, lines and exit statuses of rdma-core's. {@code docs/tools/ibv_xsrq_pingpong.md} lists the differences.
 */
public final class XsrqPingpong implements Tool {
    private static final String EXAMPLES = """

        RoCE needs -g on both sides (ibv_devinfo -v lists the GIDs), or --device with an address. Linux's software
        device (rxe) has no XRC: the peer must be this tool, or the C tool on a network card.

        examples:
          ibv_xsrq_pingpong -d rdma4j_eth0 -g 0
          ibv_xsrq_pingpong -d rdma4j_eth0 -g 0 192.0.2.1
          ibv_xsrq_pingpong --device 192.0.2.1 -c 3 -n 1000     starts when three clients have connected

        """;

    /** Creates the tool. */
    public XsrqPingpong() {}

    @Override
    public String name() {
        return "ibv_xsrq_pingpong";
    }

    @Override
    public String summary() {
        return "messages between a server and its clients over extended connections (XRC)";
    }

    @Override
    public String help() {
        return XsrqCommandLine.usage(name()) + EXAMPLES + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(XsrqCommandLine.OPTIONS);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            PingpongCalls calls = new PingpongCalls(name(), environment);
            XsrqOptions options = new XsrqCommandLine(calls).read(arguments);
            options.report(environment.report());
            new XsrqRun(options, calls).run();
            return 0;
        } catch (ToolFailure e) {
            return e.status();
        }
    }
}
