package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;

/**
 * {@code rstream} measures latency and bandwidth of RDMA sockets, or of TCP sockets for comparison. It has the options,
 * lines and exit statuses of librdmacm's tool. {@code docs/tools/rstream.md} lists the differences.
 */
public final class Rstream implements Tool {
    private static final String EXAMPLES = """

        Without -s it is the server. Without -I, -C and -S it runs a series: latencies, then bandwidths, of 64 bytes to
        1 MiB. Both sides need the same -I, -C, -S, -p and -T v, and both -T s or none. -T may be given more than once.

        examples:
          rstream                                the server
          rstream -s 192.0.2.1                   the series
          rstream -s 192.0.2.1 -S all            more sizes, up to 6 MiB; the server too with -S all
          rstream -s 192.0.2.1 -S 65536 -C 1000 -I 1
          rstream -s 192.0.2.1 -T s              the same over TCP, for comparison

        """;

    /** Creates the tool. */
    public Rstream() {}

    @Override
    public String name() {
        return "rstream";
    }

    @Override
    public String summary() {
        return "latency and bandwidth of RDMA sockets, or of TCP sockets for comparison";
    }

    @Override
    public String help() {
        return StreamCommandLine.usage(name(), StreamCommandLine.RSTREAM) + EXAMPLES + CommonOptions.usage();
    }

    WarmUp.Round round(StreamToolOptions options) {
        return (environment, address, isServer, work) -> {
            StreamToolOptions own = options.forWarmUp(address, isServer);
            RstreamRun run = new RstreamRun(name(), own, List.of(), environment);
            run.shorten(work);
            return run.run() == 0;
        };
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(StreamCommandLine.RSTREAM);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            StreamToolOptions options = new StreamCommandLine(
                            name(), StreamCommandLine.RSTREAM, EnumSet.allOf(Test.class), environment)
                    .read(arguments);
            RstreamRun run = new RstreamRun(name(), options, arguments, environment);
            StreamRun.Phase phase = ProcessPerConnection.inheritedPhase();
            if (phase != null) {
                return run.serveInherited(phase);
            }
            return options.has(Test.FORK) ? run.run() : run.run(round(options));
        } catch (ToolFailure e) {
            return e.status();
        } catch (IOException e) {
            environment.err().println("rstream: " + e.getMessage());
            return StreamRun.FAILED;
        }
    }
}
