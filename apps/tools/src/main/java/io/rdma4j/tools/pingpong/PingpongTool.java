package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.util.List;
import java.util.Locale;
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

    /**
     * The help lines of the options of all tools by letter, in the order of C's help. The tool completes the lines of
     * {@code -s} and {@code -l}.
     */
    private static final List<String> OPTION_LINES = List.of(
            "p, --port=<port>      listen on/connect to port <port> (default 18515)",
            "d, --ib-dev=<dev>     use IB device <dev> (default first device found)",
            "i, --ib-port=<port>   use port <port> of IB device (default 1)",
            "s, --size=<size>      size of message to exchange (default %1$d)",
            "m, --mtu=<size>       path MTU (default 1024)",
            "q, --num-qp=<num>     number of QPs to use (default 16)",
            "r, --rx-depth=<dep>   number of receives to post at a time (default 500)",
            "n, --iters=<iters>    number of exchanges (default 1000)",
            "l, %2$s",
            "e, --events           sleep on CQ events (default poll)",
            "g, --gid-idx=<gid index> local port gid index",
            "o, --odp\t\t    use on demand paging",
            "O, --iodp\t\t    use implicit on demand paging",
            "P, --prefetch\t    prefetch an ODP MR",
            "t, --ts\t            get CQE with timestamp",
            "c, --chk\t            validate received buffer",
            "j, --dm\t            use device memory",
            "N, --new_send            use new post send WR API",
            "U, --allow-cc-unprotected  allow allocation of unprotected/shared\n                            memory on CoCo guests");

    /** C's line of {@code -n} for several queue pairs. The number nevertheless applies to all queue pairs together. */
    private static final String EXCHANGES_EACH = "n, --iters=<iters>    number of exchanges per QP(default 1000)";

    /** C's line of {@code -c} in tools without further options. */
    private static final String PLAIN_CHECK = "c, --chk              validate received buffer";

    /**
     * The parts of a command line that differ between the tools.
     *
     * @param letters the options, as for getopt(3)
     * @param sizeBytes the default size of a message
     * @param statedSizeBytes the default size that C's help states
     * @param levelLine the help line of {@code -l}
     */
    record Form(String letters, long sizeBytes, long statedSizeBytes, String levelLine) {}

    private final Form form;

    PingpongTool(Form form) {
        this.form = form;
    }

    /** Creates the transport of a run. */
    abstract PingpongTransport transport();

    private String usage() {
        boolean hasMany = form.letters().indexOf('q') >= 0;
        boolean isPlain = form.letters().indexOf('t') < 0;
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT, """
            Usage:
              %1$s            start a server and wait for connection
              %1$s <host>     connect to server at <host>

            Options:
            """, name()));
        for (String line : OPTION_LINES) {
            if (form.letters().indexOf(line.charAt(0)) >= 0) {
                String shown = isPlain && line.startsWith("c,") ? PLAIN_CHECK : line;
                shown = hasMany && line.startsWith("n,") ? EXCHANGES_EACH : shown;
                text.append("  -")
                        .append(String.format(Locale.ROOT, shown, form.statedSizeBytes(), form.levelLine()))
                        .append('\n');
            }
        }
        return text.toString();
    }

    @Override
    public String help() {
        return usage() + EXAMPLES.replace("TOOL", name()) + CommonOptions.HELP;
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            PingpongOptions options = new PingpongCommandLine(
                            name(), form.letters(), form.sizeBytes(), usage(), environment)
                    .read(arguments);
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
