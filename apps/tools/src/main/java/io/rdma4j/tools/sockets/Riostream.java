package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * {@code riostream} measures latency and bandwidth of direct writes into mapped memory of an RDMA socket's peer. It has
 * the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/riostream.md} lists the differences.
 */
public final class Riostream implements Tool {
    private static final Set<Test> KNOWN = EnumSet.of(Test.ASYNC, Test.BLOCKING, Test.NONBLOCKING, Test.VERIFY);

    private static final String EXAMPLES = """

        Without -s it is the server. Without -I, -C and -S it runs a series: latencies, then bandwidths, of 64 bytes to
        1 MiB. Both sides need the same -I, -C, -S, -p and -T v. -T may be given more than once.

        examples:
          riostream                                the server
          riostream -s 192.0.2.1                   the series
          riostream -s 192.0.2.1 -S all            more sizes, up to 6 MiB; the server too with -S all
          riostream -s 192.0.2.1 -S 65536 -C 1000 -I 1

        """;

    /** Creates the tool. */
    public Riostream() {}

    @Override
    public String name() {
        return "riostream";
    }

    @Override
    public String summary() {
        return "latency and bandwidth of direct writes into memory that the peer has mapped";
    }

    @Override
    public String help() {
        return StreamCommandLine.usage(name(), StreamCommandLine.RIOSTREAM) + EXAMPLES + CommonOptions.usage();
    }

    WarmUp.Round round(StreamToolOptions options) {
        return (environment, address, isServer, work) -> {
            StreamToolOptions own = options.forWarmUp(address, isServer);
            RiostreamRun run = new RiostreamRun(name(), own, environment);
            run.shorten(work);
            return run.run() == 0;
        };
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(StreamCommandLine.RIOSTREAM);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            StreamToolOptions options =
                    new StreamCommandLine(name(), StreamCommandLine.RIOSTREAM, KNOWN, environment).read(arguments);
            return new RiostreamRun(name(), options, environment).run(round(options));
        } catch (ToolFailure e) {
            return e.status();
        }
    }
}
