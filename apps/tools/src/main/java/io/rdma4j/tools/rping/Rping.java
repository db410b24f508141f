package io.rdma4j.tools.rping;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import io.rdma4j.tools.command.WarmUpChoice;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * {@code rping}: an RDMA ping-pong between two hosts.
 *
 * <p>It has the options, lines and exit statuses of librdmacm's tool. {@code docs/tools/rping.md} lists the
 * differences.
 */
public final class Rping implements Tool {
    /** The number of pings for each unit of work of a warm-up. */
    private static final int PINGS = 4;

    private static final String EXAMPLES = """

        -S takes 23 to 65535 bytes and defaults to 64. Without -C it runs indefinitely. Without -p the port is 7174.

        examples:
          rping -s -v -C 10                        serve one client on every IPv4 address
          rping -s -a ::0 -P                       serve any number of clients, IPv4 and IPv6
          rping -c -a 192.0.2.1 -v -V -C 10        ten validated pings
          rping -c -a fe80::1%eth0 -S 65535 -C 1   one large ping to a link-local address
          rping -c -a 192.0.2.1 -C 3 --pcap ping.pcapng

        """;

    /** Creates the tool. */
    public Rping() {}

    @Override
    public String name() {
        return "rping";
    }

    @Override
    public String summary() {
        return "RDMA ping-pong: the rping of librdmacm, option for option";
    }

    @Override
    public String help() {
        return RpingCommandLine.USAGE + EXAMPLES + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(RpingCommandLine.OPTIONS);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        return run(arguments, environment, (ping, nanos) -> {});
    }

    /**
     * Runs rping and reports the time of every ping of a client.
     *
     * @param arguments the command line
     * @param environment the output streams
     * @param observer receives the time of every ping
     * @return the exit status
     */
    public static int run(List<String> arguments, ToolEnvironment environment, PingObserver observer) {
        try {
            RpingOptions options = RpingCommandLine.parse(arguments, environment);
            options.addTo(environment.report());
            PingStatistics statistics = new PingStatistics(environment.report());
            try (WarmUp warmUp = warmUp(options, environment)) {
                run(options, environment, warmUp, (ping, nanos) -> {
                    statistics.onPing(ping, nanos);
                    observer.onPing(ping, nanos);
                });
            }
            return 0;
        } catch (ToolFailure e) {
            return e.status();
        }
    }

    /** Warms up for a client that will run in this process. Prints nothing. */
    public static void warmUp(List<String> arguments) {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        ToolEnvironment environment = new ToolEnvironment(nowhere, nowhere);
        environment.warmUp(WarmUpChoice.ALWAYS);
        try {
            WarmUp _ = warmUp(RpingCommandLine.parse(arguments, environment), environment);
        } catch (ToolFailure e) {
            return; // the client will report it
        }
    }

    /** Warms up if the user requested it. A server warms up in the background until its client connects. */
    private static WarmUp warmUp(RpingOptions options, ToolEnvironment environment) {
        return environment.warmUp() == WarmUpChoice.ALWAYS
                ? WarmUp.before("rping", options.server(), round(options), environment)
                : WarmUp.NONE;
    }

    static WarmUp.Round round(RpingOptions options) {
        return (environment, address, isServer, work) -> {
            try {
                run(options.forWarmUp(address, isServer, PINGS * work), environment, WarmUp.NONE, (_, _) -> {});
                return true;
            } catch (ToolFailure e) {
                return false;
            }
        };
    }

    private static void run(RpingOptions options, ToolEnvironment environment, WarmUp warmUp, PingObserver observer)
            throws ToolFailure {
        RpingReport report = new RpingReport(environment, options.debug());
        EventChannel channel = openChannel(report, environment);
        RpingProgress progress = new RpingProgress(RpingState.IDLE);
        CmId id;
        try {
            id = channel.createId(PortSpace.TCP, progress);
        } catch (RdmaException e) {
            report.systemError("rdma_create_id", e);
            channel.close();
            throw new ToolFailure(-1);
        }
        report.debug("created cm_id %s", RpingReport.pointer(id));
        // When a signal ends the process, the device disconnects its peers. C's tool prints nothing in this case.
        Runnable atInterrupt = report::silence;
        environment.onInterrupt(atInterrupt);
        try (RpingEvents events = new RpingEvents(channel, id, progress, options.server(), report)) {
            try {
                if (options.server()) {
                    new RpingServer(id, events, options, report, environment, warmUp).run();
                } else {
                    new RpingClient(id, progress, options, report, environment, observer).run();
                }
            } finally {
                report.debug("destroy cm_id %s", RpingReport.pointer(id));
                id.close();
            }
        } finally {
            environment.removeOnInterrupt(atInterrupt);
        }
    }

    private static EventChannel openChannel(RpingReport report, ToolEnvironment environment) throws ToolFailure {
        try {
            return environment.rdma().connectionManager().openEventChannel();
        } catch (RdmaException e) {
            if (e.errno() == Errno.ENODEV) {
                report.error("No RDMA devices were detected");
                report.explain(e);
            } else {
                report.systemError("failed to create RDMA CM event channel", e);
            }
            throw new ToolFailure(e.errno().number());
        }
    }
}
