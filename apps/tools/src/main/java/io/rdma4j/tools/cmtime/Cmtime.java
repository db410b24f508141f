package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
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
        return CmtimeCommandLine.usage(CmtimeCommandLine.MESH)
                + EXAMPLES
                + CmtimeCommandLine.usage(CmtimeCommandLine.CLASSIC)
                + CLASSIC_EXAMPLES
                + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(CmtimeCommandLine.MESH, CmtimeCommandLine.CLASSIC);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        try {
            if (arguments.contains(CLASSIC)) {
                List<String> rest = new ArrayList<>(arguments);
                rest.removeIf(CLASSIC::equals);
                return run(new CmtimeCommandLine(environment).readClassic(rest), environment);
            }
            return run(new CmtimeCommandLine(environment).read(arguments), environment);
        } catch (ToolFailure e) {
            return e.status();
        }
    }

    private int run(CmtimeOptions options, ToolEnvironment environment) {
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

    private int run(ClassicOptions options, ToolEnvironment environment) {
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
