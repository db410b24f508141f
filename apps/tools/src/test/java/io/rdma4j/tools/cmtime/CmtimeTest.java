package io.rdma4j.tools.cmtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.RoceCapture;
import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolProcess;
import io.rdma4j.wire.Opcode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the mesh form of cmtime with instances of this tool in one process. */
class CmtimeTest {
    private static final String CLIENT_STEPS = """
        \tCreating IDs
        \tBinding addresses
        \tResolving addresses
        \tResolving routes
        \tCreating QPs
        \tModify QPs to INIT
        \tConnecting
        \tDisconnecting
        \tDestroying QPs
        \tDestroying IDs
        """;
    private static final String SERVER_STEPS = """
        \tAccepting
        \tDisconnecting
        """;
    private static final String VERBS = "\tAllocating verbs resources\n";

    /**
     * Shortens the timeouts for tests in which an instance must give up. In other tests a busy machine must not cause a
     * timeout.
     */
    private static void useShortTimeouts() {
        System.setProperty(ReceiveTimeout.PROPERTY, "1500");
    }

    @AfterEach
    void restore() {
        System.clearProperty(ReceiveTimeout.PROPERTY);
    }

    /**
     * Returns random numbers of simulated queue pairs for one instance.
     *
     * <p>All instances of this process appear to be on the same host adapter, on which a number must be unique.
     */
    private static String numbers() {
        return " -q " + ThreadLocalRandom.current().nextInt(1, 16_000_000) + " ";
    }

    private record Pair(ToolRun server, ToolRun client) {
        String errors() {
            return server.err() + client.err();
        }

        Pair requireSuccess() throws InterruptedException {
            assertThat(server.status()).as(errors()).isZero();
            assertThat(client.status()).as(errors()).isZero();
            assertThat(errors()).isEmpty();
            return this;
        }

        Pair requireFailure(String sentence) throws InterruptedException {
            assertThat(server.status()).as(errors()).isEqualTo(1);
            assertThat(client.status()).as(errors()).isEqualTo(1);
            assertThat(errors()).contains(sentence);
            return this;
        }
    }

    private static Pair pair(String address, String server, String client) throws InterruptedException {
        String common = "cmtime -b %s -C %s".formatted(address, address);
        ToolRun first = ToolRun.start(common + numbers() + "-L " + server).awaitText("OOB root");
        return new Pair(first, ToolRun.start(common + numbers() + client));
    }

    private static Pair pair(String address, String both) throws InterruptedException {
        return pair(address, both, both);
    }

    /** Returns the lines outside of the tables. */
    private static String steps(String out) {
        StringBuilder steps = new StringBuilder();
        for (String line : out.lines().toList()) {
            if (!isOfTable(line)) {
                steps.append(line).append('\n');
            }
        }
        return steps.toString();
    }

    private static boolean isOfTable(String line) {
        return line.startsWith("step ")
                || line.startsWith("threads ")
                || Stream.of(Step.values()).anyMatch(step -> line.startsWith(step.text() + " "));
    }

    /** Returns the numbers of a row of the last table: average, total, per connection, sum, maximum, minimum. */
    private static List<Long> row(String out, String step) {
        String line = out.lines()
                .filter(each -> each.matches("\\Q" + step + "\\E( +\\d+){6}"))
                .reduce("", (before, last) -> last);
        assertThat(line).as("row of " + step + " in " + out).hasSize(80);
        return Stream.of(line.substring(step.length()).strip().split(" +"))
                .map(Long::valueOf)
                .toList();
    }

    // ---- output

    @Test
    void clientAndServerPrintTheStepsOfTheTool() throws InterruptedException {
        Pair pair = pair(ToolTestSupport.loopback(), "-c 3").requireSuccess();
        assertThat(steps(pair.client.out()))
                .isEqualTo("Client warmup\n"
                        + CLIENT_STEPS.replace("\tModify", VERBS + "\tModify")
                        + "Connect (3) QPs test\n"
                        + CLIENT_STEPS
                        + "qp_conn                 3\nConnect (3) test - no QPs\n"
                        + CLIENT_STEPS
                        + "cm_conn                 3\n");
        assertThat(steps(pair.server.out()))
                .isEqualTo("Running as OOB root\nServer warmup\n"
                        + SERVER_STEPS.replace("\tDis", VERBS + "\tDis")
                        + "Accept (3) QPs test\n"
                        + SERVER_STEPS
                        + "qp_conn                 3\nAccept (3) test - no QPs\n"
                        + SERVER_STEPS
                        + "cm_conn                 3\n");
    }

    @Test
    void figuresCoverAllOfThousandConnections() throws InterruptedException {
        Pair pair = pair(ToolTestSupport.loopback(), "-c 1000 --json");
        assertThat(pair.server.status()).as(pair.errors()).isZero();
        assertThat(pair.client.status()).as(pair.errors()).isZero();
        assertThat(pair.client.out()).contains("\"test\": \"queuePairs\"", "\"test\": \"noQueuePairs\"");
        assertThat(pair.client.err()).contains("Connect (1000) QPs test\n", "qp_conn              1000\n");
        for (Step step : Step.values()) {
            List<Long> figures = row(pair.client.err(), step.text());
            assertThat(figures.get(5)).as(step.text()).isLessThanOrEqualTo(figures.get(4));
            assertThat(figures.get(3)).as(step.text()).isLessThanOrEqualTo(1000 * (figures.get(4) + 1));
        }
        assertThat(row(pair.client.err(), "full connect").get(1)).isPositive();
        assertThat(row(pair.client.err(), "full connect").get(3)).isZero();
        assertThat(row(pair.client.err(), "cm connect").get(1)).isPositive();
        assertThat(row(pair.server.err(), "cm connect").get(1)).isPositive();
        assertThat(row(pair.server.err(), "full connect")).containsOnly(0L);
    }

    // ---- options and addresses

    @ParameterizedTest
    @ValueSource(strings = {"-c 1", "-n 4 -c 40", "-m 200", "-r 0", "-t 500", "-P 2", "-p 17471"})
    void everyOptionIsAccepted(String options) throws InterruptedException {
        Pair pair = pair(ToolTestSupport.loopback(), options + (options.contains("-c") ? "" : " -c 4"))
                .requireSuccess();
        String count = options.contains("40") ? "40" : options.contains("-c") ? "1" : "4";
        assertThat(pair.client.out())
                .contains(
                        options.contains("-m")
                                ? "Connect (4) simulated QPs test (delay 200 us)\n"
                                : "Connect (" + count + ") QPs test\n",
                        "threads                 " + (options.contains("-n") ? "4" : "1") + "\n");
        if (options.contains("-m")) {
            assertThat(pair.client.out()).doesNotContain("qp_conn");
            assertThat(pair.server.out()).contains("Accept (4) simulated QPs test (delay 200 us)\n");
        }
    }

    @Test
    void simulatedCallsAreDelayed() throws InterruptedException {
        Pair pair = pair(ToolTestSupport.loopback(), "-c 2 -m 3000").requireSuccess();
        String simulated = pair.client.out().substring(0, pair.client.out().indexOf("no QPs"));
        for (String step : List.of("create qp", "init qp", "rtr qp", "rts qp")) {
            assertThat(row(simulated, step).get(5)).as(step).isBetween(3000L, 500_000L);
        }
        assertThat(row(pair.client.out(), "rtr qp").get(5)).isLessThan(3000);
    }

    @Test
    void socketsAreTimedAsBaseline() throws InterruptedException {
        Pair pair = pair(ToolTestSupport.loopback(), "-c 20 -S").requireSuccess();
        assertThat(steps(pair.client.out())).isEqualTo("""
            Client baseline socket setup
            Creating sockets
            Connecting sockets
            Closing sockets
            Client baseline socket results:
            cm_conn                20
            """);
        assertThat(steps(pair.server.out())).isEqualTo("""
            Running as OOB root
            Server baseline socket setup
            Accept sockets
            Closing sockets
            Server baseline socket results:
            cm_conn                20
            """);
        assertThat(row(pair.client.out(), "cm connect").get(4)).isPositive();
    }

    @Test
    void sourceCanBeAnInterface() throws InterruptedException, IOException {
        String name = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress())
                .getName();
        String words = "cmtime -C 127.0.0.1 -c 2 -p 17472 -B " + name;
        ToolRun server = ToolRun.start(words + numbers() + "-L").awaitText("OOB root");
        new Pair(server, ToolRun.start(words + numbers())).requireSuccess();
        assertThat(server.out()).startsWith("Picking source address 127.0.0.1 for interface " + name + "\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void addressesCanBeIpv6(String controller) throws InterruptedException {
        String words = "cmtime -b ::1 -c 3 -p 17473 -C " + controller;
        ToolRun server = ToolRun.start(words + numbers() + "-L").awaitText("OOB root");
        new Pair(server, ToolRun.start(words + numbers())).requireSuccess();
    }

    @Test
    void anyAddressOfTheHostCanBeUsed() throws InterruptedException, IOException {
        List<String> others = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLoopbackAddress())
                .map(ToolTestSupport::text)
                .toList();
        for (String other : others) {
            String words = "cmtime -b " + other + " -c 3 -p 17474 -C 127.0.0.1";
            ToolRun server = ToolRun.start(words + numbers() + "-L").awaitText("OOB root");
            new Pair(server, ToolRun.start(words + numbers())).requireSuccess();
        }
    }

    // ---- instances

    @Test
    void clientCanBeTheRoot() throws InterruptedException {
        String address = ToolTestSupport.loopback();
        String words = "cmtime -c 5 -b %s -C %s".formatted(address, address);
        ToolRun client = ToolRun.start(words + numbers()).awaitText("OOB root");
        new Pair(ToolRun.start(words + numbers() + "-L"), client).requireSuccess();
        assertThat(client.out()).startsWith("Running as OOB root\nClient warmup\n");
    }

    @ParameterizedTest
    @CsvSource({"1, 2", "2, 1", "2, 2"})
    void everyClientConnectsToEveryServer(int servers, int clients) throws InterruptedException {
        String address = ToolTestSupport.loopback();
        String words = "cmtime -c 4 -b %s -C %s -P %d".formatted(address, address, servers + clients);
        List<ToolRun> runs = new ArrayList<>();
        for (int i = 0; i < servers + clients; i++) {
            runs.add(ToolRun.start(words + numbers() + (i < servers ? "-L" : "")));
        }
        for (ToolRun run : runs) {
            assertThat(run.status()).as(run.err()).isZero();
            assertThat(run.err()).isEmpty();
            boolean server = run.out().contains("Server warmup");
            int count = 4 * (server ? clients : servers);
            assertThat(run.out()).contains((server ? "Accept" : "Connect") + " (" + count + ") QPs test\n");
            assertThat(run.out()).doesNotContain("no QPs");
        }
    }

    // ---- failures

    @ParameterizedTest
    @CsvSource({
        "-c 10, -c 5, start all with the same -c",
        "-c 5, -c 10, start all with the same -c",
        "-P 2, -P 3, start all with the same -P",
        "-P 3, -P 2, start all with the same -P",
        "-S, -r 1, 'start all with -S, or none'",
        "-r 1, -S, 'start all with -S, or none'"
    })
    void differentCountsEndBothSidesWithAMessage(String server, String client, String sentence)
            throws InterruptedException {
        useShortTimeouts();
        Pair pair = pair(ToolTestSupport.loopback(), server, client).requireFailure(sentence);
        assertThat(pair.server.err()).contains(sentence);
        assertThat(pair.client.err()).contains(sentence);
    }

    @Test
    void aMeshOfServersOnlyFails() throws InterruptedException {
        Pair pair = pair(ToolTestSupport.loopback(), "", "-L").requireFailure("start one or more without");
        assertThat(pair.server.out()).endsWith("cannot have all listeners\n");
        assertThat(pair.client.out()).endsWith("cannot have all listeners\n");
    }

    @Test
    void aMeshOfClientsOnlyFails() throws InterruptedException {
        String address = ToolTestSupport.loopback();
        String words = "cmtime -c 5 -b %s -C %s".formatted(address, address);
        ToolRun first = ToolRun.start(words + numbers()).awaitText("OOB root");
        Pair pair = new Pair(first, ToolRun.start(words + numbers())).requireFailure("start one or more with it");
        assertThat(pair.server.out()).endsWith("need at least 1 listener\n");
    }

    @Test
    void clientWithoutServerFails() throws InterruptedException {
        System.setProperty(ReceiveTimeout.PROPERTY, "100");
        String address = ToolTestSupport.loopback();
        ToolRun root = ToolRun.of(new Cmtime(), "-b %s -C %s".formatted(address, address));
        assertThat(root.status()).isEqualTo(1);
        assertThat(root.err()).contains("1 of 2 instances have connected", "cmtime -L -C " + address);
    }

    @Test
    void clientWithoutControllerFails() throws IOException, InterruptedException {
        useShortTimeouts();
        String address = ToolTestSupport.loopback();
        try (Socket occupier = new Socket()) {
            occupier.setReuseAddress(false);
            occupier.bind(new InetSocketAddress(address, 7471)); // so that the client cannot become the root
            ToolRun leaf = ToolRun.of(new Cmtime(), "-b 127.0.0.1 -C " + address);
            assertThat(leaf.status()).isEqualTo(1);
            assertThat(leaf.err()).contains("no instance at the controller's address " + address + " port 7471");
        }
    }

    /** Connects like the C tool's client, which does not announce its counts. */
    private static Socket oldClient(String address) throws IOException {
        Socket socket = new Socket(address, 7471);
        socket.setSoTimeout(20_000);
        socket.getOutputStream().write(new byte[PeerRecord.BYTES]);
        assertThat(socket.getInputStream().readNBytes(2 * PeerRecord.BYTES)).hasSize(2 * PeerRecord.BYTES);
        return socket;
    }

    @Test
    void serverFailsIfThePeerConnectsLessOften() throws InterruptedException, IOException {
        useShortTimeouts();
        String address = ToolTestSupport.loopback();
        ToolRun server = ToolRun.start("cmtime -L -b %s -C %s".formatted(address, address))
                .awaitText("OOB root");
        try (Socket client = oldClient(address)) {
            for (int step : new int[] {0, 7}) {
                client.getOutputStream().write(step);
                assertThat(client.getInputStream().read()).isEqualTo(step);
            }
            assertThat(server.status()).isEqualTo(1);
            assertThat(server.err()).contains("0 of 1 connections have completed the step 'cm connect'", "the same -c");
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void exitOfAPeerIsDetected() throws InterruptedException, IOException {
        String address = ToolTestSupport.loopback();
        ToolRun server = ToolRun.start("cmtime -L -b %s -C %s".formatted(address, address))
                .awaitText("OOB root");
        oldClient(address).close();
        assertThat(server.status()).isEqualTo(1);
        assertThat(server.err()).contains("has ended before the test was done");
    }

    @Test
    void peerAtAnotherStepIsDetected() throws InterruptedException, IOException {
        String address = ToolTestSupport.loopback();
        ToolRun server = ToolRun.start("cmtime -L -b %s -C %s".formatted(address, address))
                .awaitText("OOB root");
        try (Socket client = oldClient(address)) {
            client.getOutputStream().write(12);
            assertThat(server.status()).isEqualTo(1);
        }
        assertThat(server.err()).contains("is at another step");
    }

    @Test
    void foreignProtocolIsRejected() throws InterruptedException, IOException {
        String address = ToolTestSupport.loopback();
        ToolRun server = ToolRun.start("cmtime -L -b %s -C %s".formatted(address, address))
                .awaitText("OOB root");
        try (Socket foreign = new Socket(address, 7471)) {
            foreign.getOutputStream().write("GET / HTTP/1.1\r\n".repeat(20).getBytes(StandardCharsets.US_ASCII));
            assertThat(server.status()).isEqualTo(1);
        }
        assertThat(server.err()).contains("is not from a cmtime");
    }

    @Test
    void leafFailsIfTheRootIsAnotherProgram() throws InterruptedException, IOException {
        useShortTimeouts();
        try (ServerSocket root = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ToolRun leaf = ToolRun.start("cmtime -b 127.0.0.1 -C 127.0.0.1 -p " + root.getLocalPort());
            root.accept().close();
            assertThat(leaf.status()).isEqualTo(1);
            assertThat(leaf.err()).contains("cmtime: ");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-x | invalid option -- 'x'",
                "-c | option requires an argument -- 'c'",
                "-s 127.0.0.1 | cmtime --classic -s ADDRESS",
                "-b 127.0.0.1 | must be given",
                "-C 127.0.0.1 | must be given",
                "-b 127.0.0.1 -b 127.0.0.2 -C 127.0.0.1 | specify one of them",
                "-b 127.0.0.1 -B lo -C 127.0.0.1 | specify one of them",
                "-b 127.0.0.1 -C 127.0.0.1 -c 0 | -c and -t must be at least 1",
                "-b 127.0.0.1 -C 127.0.0.1 -c 9000000 | -c times -P must be at most 10000000",
                "-b 127.0.0.1 -C 127.0.0.1 -P 1 | -P must be at least 2",
                "-b 127.0.0.1 -C 127.0.0.1 -n 0 | -n must be at least 1",
                "-b 127.0.0.1 -C 127.0.0.1 -q 0 | -q must be 1 to 16777215",
                "-b 127.0.0.1 -C 127.0.0.1 -S -P 3 | two instances only"
            })
    void invalidOptionsPrintTheUsage(String words, String explanation) throws InterruptedException {
        ToolRun run = ToolRun.of(new Cmtime(), words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains(explanation);
        assertThat(run.out()).startsWith("usage: cmtime\n\t-B bind_interface (only one of -B or -b accepted)\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-B no-such-interface -C 127.0.0.1 | Failed to find IP address for interface: no-such-interface",
                "-b no.such.host.invalid -C 127.0.0.1 | rdma_getaddrinfo: ",
                "-b 127.0.0.1 -C no.such.host.invalid | getaddrinfo error: ",
                "-b 127.0.0.1 -C 127.0.0.1 -p 70000 | Give a port number",
                "-b 203.0.113.77 -C 127.0.0.1 -L | rdma_bind_addr: "
            })
    void invalidAddressesAreExplained(String words, String explanation) throws InterruptedException {
        ToolRun run = ToolRun.of(new Cmtime(), words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains(explanation);
        assertThat(run.out()).doesNotContain("usage");
    }

    @Test
    void captureAndTraceContainTheMessages(@TempDir Path folder) throws InterruptedException, IOException {
        Path file = folder.resolve("cmtime.pcapng");
        String address = ToolTestSupport.loopback();
        String words = "-b %s -C %s -c 2".formatted(address, address);
        List<String> errors = new ArrayList<>();
        try (ToolProcess server = ToolProcess.start(
                        List.of(("cmtime --pcap " + file + " --fault dup=5%,seed=1 --device soft -L " + words)
                                .split(" ")),
                        line -> {},
                        errors::add);
                ToolProcess client = ToolProcess.start(
                        List.of(("cmtime --trace -q 4660 " + words).split(" ")), line -> {}, errors::add)) {
            assertThat(client.await(120)).as(errors.toString()).isZero();
            assertThat(server.await(120)).as(errors.toString()).isZero();
        }
        RoceCapture packets = RoceCapture.read(file);
        assertThat(packets.others()).isZero();
        assertThat(packets.opcodes()).containsKeys(Opcode.UD_SEND_ONLY.code());
        assertThat(errors).anyMatch(line -> line.contains(" CM REQ "));
        assertThat(errors).as("-q").anyMatch(line -> line.contains(" CM REQ ") && line.contains(" qp 0x1235 "));
    }

    @Test
    void helpDescribesBothForms() throws InterruptedException {
        ToolRun run = ToolRun.of(new Cmtime(), "--help");
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("examples:", "--pcap", "--json", "--classic", "\t[-s server_address]\n");
    }
}
