package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.Getopt.LongOption;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.ToolReport;
import io.rdma4j.value.PathMtu;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of ibv_xsrq_pingpong.
 *
 * @param server the name or address of the server, or null to be the server
 * @param tcpPort {@code -p}: the TCP port of the address exchange
 * @param device {@code -d}: the name of the device, or null for the first
 * @param port {@code -i}: the port of the device
 * @param sizeBytes {@code -s}: the size of a message in bytes
 * @param mtu {@code -m}: the path MTU
 * @param clients {@code -c}: the number of clients of a server, 1 in a client
 * @param tests {@code -n}: the number of messages in each direction, for each client
 * @param events {@code -e}: true to wait for completion events instead of polling
 * @param onDemand {@code -o}: true to register memory on demand
 * @param serviceLevel {@code -l}: the service level, a priority on network cards
 * @param gidIndex {@code -g}: the index in the port's GID table, or negative if not given
 */
record XsrqOptions(
        @Nullable String server,
        int tcpPort,
        @Nullable String device,
        int port,
        int sizeBytes,
        PathMtu mtu,
        int clients,
        int tests,
        boolean events,
        boolean onDemand,
        int serviceLevel,
        int gidIndex) {
    private static final String LETTERS = "p:d:i:s:m:n:l:eog:c:";
    private static final List<LongOption> LONG_OPTIONS = List.of(
            new LongOption("port", true, 'p'),
            new LongOption("ib-dev", true, 'd'),
            new LongOption("ib-port", true, 'i'),
            new LongOption("size", true, 's'),
            new LongOption("mtu", true, 'm'),
            new LongOption("clients", true, 'c'),
            new LongOption("num_tests", true, 'n'),
            new LongOption("sl", true, 'l'),
            new LongOption("events", false, 'e'),
            new LongOption("odp", false, 'o'),
            new LongOption("gid-idx", true, 'g'));

    /** Returns whether there is a server to connect to. */
    boolean isClient() {
        return server != null;
    }

    /** Returns the number of messages that this side receives. */
    long messages() {
        return (long) clients * tests;
    }

    /**
     * Parses the command line.
     *
     * @param usage the text to print if the command line is invalid
     * @throws ToolFailure if the command line is invalid; the reason has been printed
     */
    static XsrqOptions read(List<String> arguments, String usage, PingpongCalls calls) throws ToolFailure {
        Getopt options = new Getopt(
                calls.tool(),
                LETTERS,
                LONG_OPTIONS,
                arguments,
                calls.environment().err());
        int tcpPort = PingpongOptions.DEFAULT_TCP_PORT;
        String device = null;
        int port = 1;
        int sizeBytes = 4096;
        PathMtu mtu = PathMtu.MTU_1024;
        int clients = 1;
        int tests = 5;
        boolean events = false;
        boolean onDemand = false;
        int serviceLevel = 0;
        int gidIndex = -1;
        boolean isValid = true;
        for (int letter = options.next(); letter != Getopt.END && isValid; letter = options.next()) {
            switch (letter) {
                case 'p' -> tcpPort = PingpongCommandLine.number(options);
                case 'd' -> device = options.requiredArgument();
                case 'i' -> port = PingpongCommandLine.number(options);
                case 's' -> sizeBytes = PingpongCommandLine.number(options);
                case 'm' -> mtu = PingpongCommandLine.mtu(PingpongCommandLine.number(options));
                case 'c' -> clients = PingpongCommandLine.number(options);
                case 'n' -> tests = PingpongCommandLine.number(options);
                case 'g' -> gidIndex = PingpongCommandLine.number(options);
                case 'e' -> events = true;
                case 'o' -> onDemand = true;
                case 'l' -> serviceLevel = PingpongCommandLine.number(options);
                default -> isValid = false;
            }
            isValid &= tcpPort >= 0 && tcpPort <= 0xffff && port >= 0 && mtu != null;
        }
        if (!isValid || mtu == null || options.operands().size() > 1) {
            calls.environment().out().print(usage);
            throw new ToolFailure(1);
        }
        String server = options.operands().isEmpty() ? null : options.operands().getFirst();
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
                mtu,
                clients,
                tests,
                events,
                onDemand,
                serviceLevel,
                gidIndex);
    }

    /** Adds the parameters to the JSON report. */
    void report(ToolReport report) {
        report.parameter("server", server)
                .parameter("tcpPort", tcpPort)
                .parameter("device", device)
                .parameter("port", port)
                .parameter("sizeBytes", sizeBytes)
                .parameter("mtuBytes", mtu.bytes())
                .parameter("clients", clients)
                .parameter("tests", tests)
                .parameter("events", events)
                .parameter("gidIndex", gidIndex);
    }
}
