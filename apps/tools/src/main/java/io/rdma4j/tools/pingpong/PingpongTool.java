package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.pingpong.PingpongCommandLine.Form;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A ping-pong of libibverbs, with the options, lines and exit statuses of rdma-core 65. The pages in {@code docs/tools}
 * list the differences.
 */
abstract class PingpongTool implements Tool {
    private static final String EXAMPLES = """

        RoCE needs -g on both sides (ibv_devinfo -v lists the GIDs), or --device with an address.

        examples:
          TOOL -d rdma4j_eth0 -g 0
          TOOL -d rdma4j_eth0 -g 0 192.0.2.1
          TOOL --device 192.0.2.1 -n 10000 -s 64

        """;

    private final Form form;

    PingpongTool(Form form) {
        this.form = form;
    }

    /** Creates the transport of a run. */
    abstract PingpongTransport transport();

    @Override
    public String help() {
        return PingpongCommandLine.usage(name(), form) + EXAMPLES.replace("TOOL", name()) + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(PingpongCommandLine.options(form));
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            PingpongOptions options = new PingpongCommandLine(name(), form, environment).read(arguments);
            environment
                    .report()
                    .parameter("server", options.server())
                    .parameter("tcpPort", options.tcpPort())
                    .parameter("device", options.device())
                    .parameter("port", options.port())
                    .parameter("sizeBytes", options.sizeBytes())
                    .parameter("mtuBytes", mtuBytes(options))
                    .parameter("queuePairs", options.queuePairs())
                    .parameter("receiveDepth", options.receiveDepth())
                    .parameter("exchanges", options.exchanges())
                    .parameter("events", options.events())
                    .parameter("gidIndex", options.gidIndex())
                    .parameter("validate", options.validate())
                    .parameter("timestamps", options.timestamps())
                    .parameter("onDemand", options.onDemand());
            new Pingpong(name(), transport(), options, environment).run();
            return 0;
        } catch (ToolFailure e) {
            return e.status();
        }
    }

    /** Returns the path MTU, or null for a tool without {@code -m}. */
    private @Nullable Integer mtuBytes(PingpongOptions options) {
        return form.letters().indexOf('m') < 0 ? null : options.mtu().bytes();
    }
}
