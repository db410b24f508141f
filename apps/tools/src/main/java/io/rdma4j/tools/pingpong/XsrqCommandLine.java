package io.rdma4j.tools.pingpong;

import static io.rdma4j.tools.pingpong.PingpongCommandLine.number;

import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PathMtu;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A parser of the command line of ibv_xsrq_pingpong, with the messages of C's tool. */
final class XsrqCommandLine {
    static final OptionTable<XsrqCommandLine> OPTIONS = OptionTable.<XsrqCommandLine>aligned(22)
            .option("-p, --port=<port>", "listen on/connect to port <port> (default 18515)", (line, value) -> {
                line.tcpPort = number(value);
                line.refuseIf(line.tcpPort < 0 || line.tcpPort > 0xffff);
            })
            .option(
                    "-d, --ib-dev=<dev>",
                    "use IB device <dev> (default first device found)",
                    (line, value) -> line.device = value)
            .option("-i, --ib-port=<port>", "use port <port> of IB device (default 1)", (line, value) -> {
                line.port = number(value);
                line.refuseIf(line.port < 0);
            })
            .option(
                    "-s, --size=<size>",
                    "size of message to exchange (default 4096)",
                    (line, value) -> line.sizeBytes = number(value))
            .option("-m, --mtu=<size>", "path MTU (default 1024)", (line, value) -> {
                line.mtu = PingpongCommandLine.mtu(number(value));
                line.refuseIf(line.mtu == null);
            })
            .option(
                    "-c, --clients=<n>",
                    "number of clients (on server only, default 1)",
                    (line, value) -> line.clients = number(value))
            .option(
                    "-n, --num_tests=<n>",
                    "number of tests per client (default 5)",
                    (line, value) -> line.tests = number(value))
            .option("-l, --sl=<sl>", "service level value", (line, value) -> line.serviceLevel = number(value))
            .option("-e, --events", "sleep on CQ events (default poll)", (line, _) -> line.events = true)
            .option("-o, --odp\t\t    ", "use on demand paging", (line, _) -> line.onDemand = true)
            .option(
                    "-g, --gid-idx=<gid index>",
                    "local port gid index",
                    (line, value) -> line.gidIndex = number(value));

    private final PingpongCalls calls;
    private int tcpPort = PingpongOptions.DEFAULT_TCP_PORT;
    private @Nullable String device;
    private int port = 1;
    private int sizeBytes = 4096;
    private @Nullable PathMtu mtu = PathMtu.MTU_1024;
    private int clients = 1;
    private int tests = 5;
    private boolean events;
    private boolean onDemand;
    private int serviceLevel;
    private int gidIndex = -1;

    XsrqCommandLine(PingpongCalls calls) {
        this.calls = calls;
    }

    /** Returns the usage text. */
    static String usage(String tool) {
        return PingpongCommandLine.head(tool) + OPTIONS.usage();
    }

    /**
     * Parses the arguments.
     *
     * @throws ToolFailure if the command line is invalid; the reason has been printed
     */
    XsrqOptions read(List<String> arguments) throws ToolFailure {
        List<String> operands =
                OPTIONS.parse(calls.tool(), arguments, this, calls.environment().err(), _ -> usage());
        refuseIf(operands.size() > 1);
        String server = operands.isEmpty() ? null : operands.getFirst();
        clients = server == null ? clients : 1;
        if (clients < 1 || tests < 1) {
            throw calls.failure(calls.tool() + ": -c and -n must be at least 1");
        }
        return new XsrqOptions(
                server,
                tcpPort,
                device,
                port,
                sizeBytes,
                Objects.requireNonNull(mtu),
                clients,
                tests,
                events,
                onDemand,
                serviceLevel,
                gidIndex);
    }

    private void refuseIf(boolean isInvalid) throws ToolFailure {
        if (isInvalid) {
            throw usage();
        }
    }

    private ToolFailure usage() {
        calls.environment().out().print(usage(calls.tool()));
        return new ToolFailure(1);
    }
}
