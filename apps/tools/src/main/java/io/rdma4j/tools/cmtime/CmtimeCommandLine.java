package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Parses the command lines of both forms like the C tools, with their messages. */
final class CmtimeCommandLine {
    private static final String TOOL = "cmtime";

    /** The options of the mesh form. */
    static final OptionTable<CmtimeCommandLine> MESH = OptionTable.<CmtimeCommandLine>tabbed()
            .option(
                    "-B bind_interface",
                    "(only one of -B or -b accepted)",
                    "Use the first address of this network interface.",
                    (line, value) -> line.takeSource(() -> line.addressOf(value)))
            .option(
                    "-b bind_address",
                    "(only one of -B or -b accepted)",
                    "Local address.",
                    (line, value) -> line.takeSource(() -> value))
            .option(
                    "-C controller_address",
                    "",
                    "The controller: an address of the host of one instance, the same for all.",
                    (line, value) -> line.controller = value)
            .option(
                    "[-c num_conns]",
                    "connections per listener",
                    "Number of connections of each client with each server (100).",
                    (line, value) -> line.connections = CStrings.atoi(value))
            .option("[-L]", "run as listening server", "Run as a server.", (line, _) -> line.listens = true)
            .option(
                    "[-m mimic_qp_delay_us]",
                    "",
                    "Create no queue pairs; wait this long in place of each call on a queue pair.",
                    (line, value) -> {
                        line.delayMicros = CStrings.atoi(value);
                        line.simulates = true;
                    })
            .option(
                    "[-n num_threads]",
                    "",
                    "Number of worker threads (1).",
                    (line, value) -> line.threads = CStrings.atoi(value))
            .option(
                    "[-P num_peers]",
                    "total number of peers",
                    "Number of instances, servers and clients together (2).",
                    (line, value) -> line.peers = CStrings.atoi(value))
            .option("[-p oob_port]", "", "TCP port of the controller (7471).", (line, value) -> line.port = value)
            .option(
                    "[-q base_qpn]",
                    "",
                    "First queue pair number for simulated queue pairs (1000).",
                    (line, value) -> line.firstQueuePair = CStrings.atoi(value))
            .option(
                    "[-r retries]",
                    "",
                    "Retries of resolving an address or a route (2).",
                    (line, value) -> line.retries = CStrings.atoi(value))
            .option(
                    "[-S]",
                    "run socket baseline test, 2 peers only",
                    "Time TCP connections instead, for comparison.",
                    (line, _) -> line.sockets = true)
            // C requires an argument, although its usage text shows none.
            .ignoringRest()
            .option(
                    "[-t timeout_ms]",
                    "",
                    "Time for resolving an address or a route (2000).",
                    (line, value) -> line.timeoutMillis = CStrings.atoi(value));

    /** The options of the classic form. */
    static final OptionTable<CmtimeCommandLine> CLASSIC = OptionTable.<CmtimeCommandLine>tabbed()
            .inMode("--classic")
            .option(
                    "[-s server_address]",
                    "",
                    "Run as a client of the server at this address. Without it, run as the server.",
                    (line, value) -> line.server = value)
            .option("[-b bind_address]", "", "Local address.", (line, value) -> line.source = value)
            .option(
                    "[-c connections]",
                    "",
                    "Number of connections (100).",
                    (line, value) -> line.connections = CStrings.atoi(value))
            .option("[-p port_number]", "", "RDMA port (7471).", (line, value) -> line.port = value)
            .option(
                    "[-r retries]",
                    "",
                    "Retries of resolving, and of messages of a connection (2).",
                    (line, value) -> line.retries = CStrings.atoi(value))
            .option(
                    "[-t timeout_ms]",
                    "",
                    "Time for resolving an address or a route (2000).",
                    (line, value) -> line.timeoutMillis = CStrings.atoi(value));

    private static final int DEFAULT_CONNECTIONS = 100;
    private static final int DEFAULT_RETRIES = 2;
    private static final int DEFAULT_TIMEOUT_MILLIS = 2000;
    private static final int MAX_CONNECTIONS = 10_000_000;
    private static final int MAX_QUEUE_PAIR_NUMBER = 0xff_ffff;

    private final ToolEnvironment environment;
    private @Nullable String server;
    private @Nullable String source;
    private @Nullable String controller;
    private String port = "7471";
    private int connections = DEFAULT_CONNECTIONS;
    private boolean listens;
    private boolean simulates;
    private int delayMicros;
    private int threads = 1;
    private int peers = 2;
    private int firstQueuePair = 1000;
    private int retries = DEFAULT_RETRIES;
    private boolean sockets;
    private int timeoutMillis = DEFAULT_TIMEOUT_MILLIS;

    CmtimeCommandLine(ToolEnvironment environment) {
        this.environment = environment;
    }

    /** Returns the usage text of a form. */
    static String usage(OptionTable<CmtimeCommandLine> form) {
        return "usage: cmtime\n" + form.usage();
    }

    private ToolFailure failure(OptionTable<CmtimeCommandLine> form) {
        environment.out().print(usage(form));
        return new ToolFailure(1);
    }

    /**
     * Parses a command line of the classic form.
     *
     * @throws ToolFailure if it is invalid; the reason has been printed
     */
    ClassicOptions readClassic(List<String> arguments) throws ToolFailure {
        var _ = CLASSIC.parse(TOOL, arguments, this, environment.err(), _ -> failure(CLASSIC));
        checkCounts(CLASSIC);
        return new ClassicOptions(server, source, connections, port, retries, timeoutMillis);
    }

    private void checkCounts(OptionTable<CmtimeCommandLine> form) throws ToolFailure {
        if (connections < 1 || retries < 0 || timeoutMillis < 1) {
            throw refusal("-c and -t must be at least 1, and -r at least 0", form);
        }
        if (connections > MAX_CONNECTIONS) {
            throw refusal("-c must be at most " + MAX_CONNECTIONS, form);
        }
    }

    private ToolFailure refusal(String text, OptionTable<CmtimeCommandLine> form) {
        environment.err().println(TOOL + ": " + text);
        return failure(form);
    }

    // ---- mesh form

    /**
     * Parses a command line of the mesh form.
     *
     * @throws ToolFailure if it is invalid; the reason has been printed
     */
    CmtimeOptions read(List<String> arguments) throws ToolFailure {
        var _ = MESH.parse(TOOL, arguments, this, environment.err(), this::explainInvalid);
        if (source == null || controller == null) {
            throw refusal("-C, and one of -B and -b, must be given", MESH);
        }
        checkCounts(MESH);
        checkMesh();
        return new CmtimeOptions(
                source,
                controller,
                port,
                connections,
                listens,
                simulates,
                delayMicros,
                threads,
                peers,
                firstQueuePair,
                retries,
                sockets,
                timeoutMillis);
    }

    private ToolFailure explainInvalid(char letter) {
        return letter == 's'
                ? refusal("-s is an option of rdma-core up to version 51; use cmtime --classic -s ADDRESS", MESH)
                : failure(MESH);
    }

    private void checkMesh() throws ToolFailure {
        if (peers < 2) {
            throw refusal("-P must be at least 2", MESH);
        }
        if ((long) connections * peers > MAX_CONNECTIONS) {
            throw refusal("-c times -P must be at most " + MAX_CONNECTIONS, MESH);
        }
        if (sockets && peers > 2) {
            throw refusal("-S works with two instances only; leave -P out", MESH);
        }
        if (threads < 1 || delayMicros < 0) {
            throw refusal("-n must be at least 1, and -m at least 0", MESH);
        }
        if (firstQueuePair < 1 || firstQueuePair > MAX_QUEUE_PAIR_NUMBER) {
            throw refusal("-q must be 1 to " + MAX_QUEUE_PAIR_NUMBER, MESH);
        }
    }

    private interface Source {
        String address() throws ToolFailure;
    }

    private void takeSource(Source chosen) throws ToolFailure {
        if (source != null) {
            throw refusal("-B and -b both give the source address; specify one of them, once", MESH);
        }
        source = chosen.address();
    }

    /** Returns the first address of a network interface, IPv4 before IPv6, as {@code getifaddrs} orders them. */
    private String addressOf(String name) throws ToolFailure {
        Optional<InetAddress> first = Optional.empty();
        try {
            NetworkInterface found = NetworkInterface.getByName(name);
            if (found != null) {
                // Java lists the address first that was added last.
                first = found.inetAddresses().toList().reversed().stream()
                        .min(Comparator.comparing(address -> !(address instanceof Inet4Address)));
            }
        } catch (SocketException e) {
            environment.err().println(TOOL + ": " + name + ": " + e.getMessage());
        }
        if (first.isEmpty()) {
            environment.err().println("Failed to find IP address for interface: " + name);
            throw new ToolFailure(1);
        }
        String address = first.get().getHostAddress();
        environment.out().println("Picking source address " + address + " for interface " + name);
        return address;
    }
}
