package io.rdma4j.tools.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.RoceCapture;
import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.wire.Opcode;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests rdma_xclient and rdma_xserver against each other in one process. */
@Timeout(90)
class CommunicationToolsTest {
    private static final String CLIENT = "rdma_xclient: start\nrdma_xclient: end %d\n";
    private static final String SERVER = "rdma_xserver: start\nrdma_xserver: end %d\n";
    private static final String KINDS =
            "\t[-c communication type]\n\t    r - RC: reliable-connected (default)\n\t    x - XRC: extended-reliable-connected\n";
    private static final String CLIENT_USAGE = "usage: rdma_xclient\n\t[-s server]\n\t[-p port_number]\n" + KINDS;
    private static final String SERVER_USAGE = "usage: rdma_xserver\n\t[-p port_number]\n" + KINDS;

    @BeforeAll
    static void useShortTimeouts() {
        System.setProperty(ReceiveTimeout.PROPERTY, "1500");
    }

    @AfterAll
    static void restore() {
        System.clearProperty(ReceiveTimeout.PROPERTY);
    }

    private static void expectSuccess(ToolRun server, ToolRun client) throws InterruptedException {
        assertThat(server.status()).as(server.err()).isZero();
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.out()).isEqualTo(SERVER.formatted(0));
        assertThat(client.out()).isEqualTo(CLIENT.formatted(0));
        assertThat(server.err() + client.err()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | ''",
                "-c r | -c reliable",
                "'' | -c R",
                "-c x | -c x",
                "-c X | -c xrc",
                "-c x -c r | -c r -c x"
            })
    void messageArrivesOverBothKindsOfConnection(String serverWords, String clientWords) throws InterruptedException {
        String port = ToolTestSupport.port();
        ToolRun server = ToolRun.start(new RdmaXserver(), serverWords + port);
        expectSuccess(server, EndpointPairs.clientOf(server, new RdmaXclient(), clientWords + port));
    }

    @ParameterizedTest
    @ValueSource(strings = {"r", "x"})
    void everyLocalAddressServes(String kind) throws Exception {
        String words = " -c " + kind + ToolTestSupport.port();
        for (String address : localAddresses()) {
            ToolRun server = ToolRun.start(new RdmaXserver(), words);
            expectSuccess(server, EndpointPairs.clientOf(server, new RdmaXclient(), "-s " + address + words));
        }
    }

    /** Returns localhost and up to three IPv4 addresses of this host. */
    private static List<String> localAddresses() throws SocketException {
        List<String> addresses = new ArrayList<>(List.of("localhost"));
        NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof Inet4Address)
                .map(InetAddress::getHostAddress)
                .limit(3)
                .forEach(addresses::add);
        return addresses;
    }

    @Test
    void defaultsConnectOnThisHost() throws InterruptedException {
        ToolRun server = ToolRun.start("rdma_xserver extra words");
        expectSuccess(server, EndpointPairs.clientOf(server, new RdmaXclient(), "more"));
    }

    @Test
    void clientReadsFiveDigitsOfThePort() throws InterruptedException {
        String port = ToolTestSupport.port();
        ToolRun server = ToolRun.start(new RdmaXserver(), port);
        expectSuccess(server, EndpointPairs.clientOf(server, new RdmaXclient(), port + "99"));
    }

    @Test
    void resultsAreReportedAsJson() throws InterruptedException {
        String words = "-c x --json" + ToolTestSupport.port();
        ToolRun server = ToolRun.start(new RdmaXserver(), words);
        ToolRun client = EndpointPairs.clientOf(server, new RdmaXclient(), words);
        assertThat(server.status()).as(server.err()).isZero();
        assertThat(client.out())
                .contains(
                        "\"tool\": \"rdma_xclient\"",
                        "\"role\": \"client\"",
                        "\"server\": \"127.0.0.1\"",
                        "\"communication\": \"XRC\"",
                        "\"status\": 0");
        assertThat(server.out())
                .contains("\"role\": \"server\"", "\"messagesReceived\": 1", "\"communication\": \"XRC\"")
                .doesNotContain("\"server\":");
        assertThat(client.err()).isEqualTo(CLIENT.formatted(0));
    }

    @ParameterizedTest
    @CsvSource({"r, x", "x, r"})
    void kindsAreSeparateServices(String offered, String asked) throws InterruptedException {
        String port = ToolTestSupport.port();
        ToolRun server = ToolRun.start(new RdmaXserver(), "-c " + offered + port);
        server.awaitText("start");
        ToolRun refused = ToolRun.of(new RdmaXclient(), "-c " + asked + port);
        assertThat(refused.status()).isEqualTo(-1);
        assertThat(refused.out()).isEqualTo(CLIENT.formatted(-1));
        assertThat(refused.err()).startsWith("rdma_connect: Connection refused\nrdma_xclient: ");
        expectSuccess(server, EndpointPairs.clientOf(server, new RdmaXclient(), "-c " + offered + port));
    }

    @Test
    void serverAcceptsOnlyIpv4() throws InterruptedException {
        String port = ToolTestSupport.port();
        ToolRun server = ToolRun.start(new RdmaXserver(), port);
        ToolRun first = EndpointPairs.clientOf(server, new RdmaXclient(), port);
        expectSuccess(server, first);
        ToolRun again = ToolRun.start(new RdmaXserver(), port);
        again.awaitText("start");
        ToolRun refused = ToolRun.of(new RdmaXclient(), "-s ::1" + port);
        assertThat(refused.status()).isEqualTo(-1);
        assertThat(refused.err()).startsWith("rdma_connect: Connection refused\n");
        expectSuccess(again, EndpointPairs.clientOf(again, new RdmaXclient(), port));
    }

    @ParameterizedTest
    @ValueSource(strings = {"r", "x"})
    void portInUseIsReported(String kind) throws InterruptedException {
        String words = "-c " + kind + ToolTestSupport.port();
        ToolRun first = ToolRun.start(new RdmaXserver(), words);
        ToolRun second = ToolRun.start(new RdmaXserver(), words);
        while (!first.hasEnded() && !second.hasEnded()) {
            Thread.sleep(10);
        }
        ToolRun refused = first.hasEnded() ? first : second;
        ToolRun other = first.hasEnded() ? second : first;
        assertThat(refused.status()).isEqualTo(-1);
        assertThat(refused.out()).isEqualTo(SERVER.formatted(-1));
        assertThat(refused.err()).startsWith("rdma_create_ep: Cannot assign requested address\nrdma_xserver: ");
        EndpointPairs.clientOf(other, new RdmaXclient(), words);
        assertThat(other.status()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-s no.such.host.invalid | rdma_getaddrinfo: ",
                "-p no-such-service | rdma_getaddrinfo: Servname not supported for ai_socktype",
                "-p 70000 -c x | rdma_getaddrinfo: Servname not supported for ai_socktype",
                "-s 255.255.255.255 | rdma_create_ep: "
            })
    void failuresAreExplained(String words, String line) throws InterruptedException {
        ToolRun run = ToolRun.of(new RdmaXclient(), words);
        assertThat(run.status()).as(run.err()).isNegative();
        assertThat(run.out() + run.err()).contains(line);
        assertThat(run.out()).startsWith("rdma_xclient: start\n").endsWith("rdma_xclient: end " + run.status() + "\n");
        assertThat(run.err().lines().reduce((first, last) -> last).orElse("")).startsWith("rdma_xclient: ");
    }

    @Test
    void serverDoesNotListenOnAnUnknownService() throws InterruptedException {
        ToolRun run = ToolRun.of(new RdmaXserver(), "-p no-such-service");
        assertThat(run.status()).isEqualTo(-1);
        assertThat(run.out()).isEqualTo("""
            rdma_xserver: start
            rdma_getaddrinfo: Servname not supported for ai_socktype
            rdma_xserver: end -1
            """);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-x | invalid option -- 'x'",
                "-p | option requires an argument -- 'p'",
                "-c | option requires an argument -- 'c'",
                "-c u |"
            })
    void invalidOptionsPrintTheUsage(String words, String message) throws InterruptedException {
        for (Tool tool : new Tool[] {new RdmaXclient(), new RdmaXserver()}) {
            ToolRun run = ToolRun.of(tool, words);
            assertThat(run.status()).isEqualTo(1);
            assertThat(run.err()).isEqualTo(message == null ? "" : tool.name() + ": " + message + "\n");
            assertThat(run.out()).isEqualTo(tool instanceof RdmaXclient ? CLIENT_USAGE : SERVER_USAGE);
        }
    }

    @Test
    void serverHasNoAddressOption() throws InterruptedException {
        ToolRun run = ToolRun.of(new RdmaXserver(), "-s 127.0.0.1");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).isEqualTo("rdma_xserver: invalid option -- 's'\n");
        assertThat(run.out()).isEqualTo(SERVER_USAGE);
    }

    @Test
    void serverEndsIfTheClientSendsNothing() throws InterruptedException {
        String port = ToolTestSupport.port();
        ToolRun server = ToolRun.start(new RdmaXserver(), port);
        ToolRun silent = EndpointPairs.clientOf(server, new Ucmatose(), "-C 0 -s 127.0.0.1" + port);
        assertThat(server.status()).isEqualTo(-110);
        assertThat(server.out()).isEqualTo(SERVER.formatted(-110));
        assertThat(server.err())
                .startsWith("rdma_xserver: the peer did not send its message within 1 s")
                .contains("rdma_xclient and rdma_xserver");
        assertThat(silent.status()).as(silent.err()).isZero();
    }

    // ---- in separate processes, which the common options require

    @ParameterizedTest
    @ValueSource(strings = {"r", "x"})
    void lossesAreRecoveredAndPacketsCaptured(String kind, @TempDir Path folder) throws Exception {
        Path capture = folder.resolve("client.pcapng");
        String words = " -c " + kind + " --trace --device rdma4j_lo";
        List<String> lines = EndpointPairs.exchangeUnderLoss(
                "rdma_xserver" + words, "rdma_xclient" + words + " --pcap " + capture + " --fault loss=10%,seed=", 1);
        assertThat(lines)
                .contains("rdma_xclient: end 0")
                .anyMatch(line -> line.contains(kind.equals("x") ? "XRC_SEND_ONLY" : "RC_SEND_ONLY"));
        RoceCapture packets = RoceCapture.read(capture);
        assertThat(packets.others()).isZero();
        assertThat(packets.opcodes())
                .containsKeys((kind.equals("x") ? Opcode.XRC_SEND_ONLY : Opcode.RC_SEND_ONLY).code());
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma_xclient", "rdma_xserver"})
    void helpHasExamples(String name) throws InterruptedException {
        ToolRun run = ToolRun.start(name + " --help");
        assertThat(run.status()).isZero();
        assertThat(run.out()).startsWith("usage: " + name + "\n").contains("examples:", "--pcap", "--json");
    }
}
