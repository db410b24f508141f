package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.WarmUp;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * {@code cmtime}: opens and closes many connections and reports how long each step takes.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. With {@code --classic} it behaves like the tool
 * of rdma-core 51 and earlier, otherwise like the later tool of the same name. {@code docs/tools/cmtime.md} lists the
 * differences.
 */
public final class Cmtime implements Tool {
    private static final String CLASSIC = "--classic";

    /** The maximum number of connections in a round of the warm-up, so that it fits into a small heap. */
    private static final int MAX_CONNECTIONS = 256;

    private static final String USAGE = """
        usage: cmtime
        \t-B bind_interface (only one of -B or -b accepted)
        \t-b bind_address (only one of -B or -b accepted)
        \t-C controller_address
        \t[-c num_conns] connections per listener
        \t[-L] run as listening server
        \t[-m mimic_qp_delay_us]
        \t[-n num_threads]
        \t[-P num_peers] total number of peers
        \t[-p oob_port]
        \t[-q base_qpn]
        \t[-r retries]
        \t[-S] run socket baseline test, 2 peers only
        \t[-t timeout_ms]
        """;

    private static final String CLASSIC_USAGE = """
        usage: cmtime
        \t[-s server_address]
        \t[-b bind_address]
        \t[-c connections]
        \t[-p port_number]
        \t[-r retries]
        \t[-t timeout_ms]
        """;

    private static final String EXAMPLES = """

        Start one instance with -L and one without, both with the same -C, -c, -P and -p. The instance on the host of
        the address -C synchronizes the others over TCP port 7471. The default of -c is 100 connections.

        examples:
          cmtime -b 192.0.2.1 -C 192.0.2.1 -L           the server, which also synchronizes
          cmtime -b 192.0.2.2 -C 192.0.2.1              the client
          cmtime -b 127.0.0.1 -C 127.0.0.1 -c 1000 -L   1000 connections on one host, with
          cmtime -b 127.0.0.1 -C 127.0.0.1 -c 1000 --json

        cmtime --classic behaves like the tool of rdma-core up to version 51 (Debian 12, RHEL 9), for such peers:

        """;

    private static final String CLASSIC_EXAMPLES = """

        Without -s it runs as the server, until it is stopped (Ctrl-C).

        examples:
          cmtime --classic -b 192.0.2.1                 serve
          cmtime --classic -s 192.0.2.1 -c 1000         1000 connections

        """;

    /** Creates the tool. */
    public Cmtime() {}

    @Override
    public String name() {
        return "cmtime";
    }

    @Override
    public String summary() {
        return "how long each step of opening and closing connections takes";
    }

    @Override
    public String help() {
        return USAGE + EXAMPLES + CLASSIC_USAGE + CLASSIC_EXAMPLES + CommonOptions.HELP;
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        if (arguments.contains(CLASSIC)) {
            List<String> rest = new ArrayList<>(arguments);
            rest.removeIf(CLASSIC::equals);
            return runClassic(rest, environment);
        }
        CmtimeCommandLine commandLine = new CmtimeCommandLine(environment);
        CmtimeOptions options = commandLine.read(arguments);
        if (options == null) {
            environment.out().print(commandLine.wantsUsage() ? USAGE : "");
            return 1;
        }
        options.addTo(environment.report());
        return limitedByMemory(
                () -> {
                    try (WarmUp warmUp = WarmUp.before(
                            name(),
                            options.listens(),
                            round(options),
                            environment,
                            options.source(),
                            options.controller())) {
                        return new MeshRun(options, environment, warmUp).run();
                    }
                },
                environment);
    }

    static WarmUp.Round round(CmtimeOptions options) {
        return (environment, address, isServer, work) -> new MeshRun(
                                options.forWarmUp(address, isServer, Math.min(work, MAX_CONNECTIONS)),
                                environment,
                                WarmUp.NONE)
                        .run()
                == 0;
    }

    /** Returns a round of the classic form. Its server always ends by an interrupt. */
    static WarmUp.Round round(ClassicOptions options) {
        return (environment, address, isServer, work) -> {
            ClassicOptions own = options.forWarmUp(address, isServer, Math.min(work, MAX_CONNECTIONS));
            return new ClassicRun(own, environment, WarmUp.NONE).run() == 0 || isServer;
        };
    }

    /** Runs a form. When the run has failed, the memory of its connections is free, so the reason can be printed. */
    private static int limitedByMemory(IntSupplier run, ToolEnvironment environment) {
        try {
            return run.getAsInt();
        } catch (OutOfMemoryError e) {
            environment
                    .err()
                    .println("cmtime: no memory for the connections: " + e.getMessage() + "; use a smaller -c");
            return 1;
        }
    }

    private int runClassic(List<String> arguments, ToolEnvironment environment) {
        ClassicOptions options = new CmtimeCommandLine(environment).readClassic(arguments);
        if (options == null) {
            environment.out().print(CLASSIC_USAGE);
            return 1;
        }
        options.addTo(environment.report());
        return limitedByMemory(
                () -> {
                    try (WarmUp warmUp = WarmUp.before(
                            name(),
                            options.server() == null,
                            round(options),
                            environment,
                            options.server(),
                            options.source())) {
                        return new ClassicRun(options, environment, warmUp).run();
                    }
                },
                environment);
    }
}
