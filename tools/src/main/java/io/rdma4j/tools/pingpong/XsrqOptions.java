package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.Getopt;
import io.rdma4j.tools.Getopt.LongOption;
import io.rdma4j.tools.ToolReport;
import io.rdma4j.verbs.PathMtu;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What ibv_xsrq_pingpong is to do.
 *
 * @param server name or address of the server, or null to be the server
 * @param tcpPort {@code -p}: port of the exchange of addresses
 * @param device {@code -d}: name of the device, or null for the first
 * @param port {@code -i}: port of the device
 * @param sizeBytes {@code -s}: bytes of a message
 * @param mtu {@code -m}: path MTU
 * @param clients {@code -c}: clients of a server; 1 in a client
 * @param tests {@code -n}: messages each way, of each client
 * @param events {@code -e}: sleep until a completion event instead of polling
 * @param onDemand {@code -o}: register memory on demand
 * @param gidIndex {@code -g}: which GID of the port to use; negative for none
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

    /** Whether there is a server to connect to. */
    boolean isClient() {
        return server != null;
    }

    /** Messages that come to this side. */
    int messages() {
        return clients * tests;
    }

    /**
     * Reads a command line.
     *
     * @param usage what to print if it makes no sense
     * @throws PingpongFailure if it makes none; the reason has been printed
     */
    static XsrqOptions read(List<String> arguments, String usage, PingpongCalls calls) throws PingpongFailure {
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
        int gidIndex = -1;
        boolean isRight = true;
        for (int letter = options.next(); letter != Getopt.END && isRight; letter = options.next()) {
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
                case 'l' -> {
                    // RoCE carries no service level.
                }
                default -> isRight = false;
            }
            isRight &= tcpPort >= 0 && tcpPort <= 0xffff && port >= 0 && mtu != null;
        }
        if (!isRight || mtu == null || options.operands().size() > 1) {
            calls.environment().out().print(usage);
            throw new PingpongFailure(1);
        }
        String server = options.operands().isEmpty() ? null : options.operands().getFirst();
        clients = server == null ? clients : 1;
        if (clients < 1 || tests < 1) {
            throw calls.failure(calls.tool() + ": -c and -n must be at least 1");
        }
        return new XsrqOptions(
                server, tcpPort, device, port, sizeBytes, mtu, clients, tests, events, onDemand, gidIndex);
    }

    /** Tells the parameters to programs. */
    void tell(ToolReport report) {
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
