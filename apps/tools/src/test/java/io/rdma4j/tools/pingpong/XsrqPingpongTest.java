package io.rdma4j.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.rdma4j.fixture.RoceCapture;
import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolProcess;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.wire.Opcode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ibv_xsrq_pingpong}, tested against itself over the loopback device. */
@Timeout(90)
class XsrqPingpongTest {
    private static final String TOOL = "ibv_xsrq_pingpong ";

    @BeforeAll
    static void useShortTimeouts() {
        System.setProperty(ReceiveTimeout.PROPERTY, "2000");
    }

    @AfterAll
    static void restore() {
        System.clearProperty(ReceiveTimeout.PROPERTY);
    }

    private final int port = ToolTestSupport.portNumber();

    private String common(String text) {
        InetAddress address = InetAddress.ofLiteral(text);
        assumeThat(Device.of(address)).isPresent();
        Device device = Device.of(address).orElseThrow();
        try (DeviceContext context = device.open()) {
            return TOOL + "-d " + device.name() + " -g " + context.gids(1).indexOf(Gid.of(address)) + " -p " + port
                    + " ";
        }
    }

    /**
     * Starts the client, and restarts it if the connection is refused: the server prints nothing before its first
     * client.
     */
    private ToolRun client(String words) throws InterruptedException {
        ToolRun client = ToolRun.start(words);
        for (int tries = 0; tries < 200; tries++) {
            while (!client.hasEnded() && !client.out().contains("local: LID")) {
                Thread.sleep(10);
            }
            if (!client.err().contains("Connection refused")) {
                return client;
            }
            Thread.sleep(20);
            client = ToolRun.start(words);
        }
        return client;
    }

    private static String line(String side, String gid) {
        String number = "[0-9a-f]{6}";
        return " *%s: LID 0000, QPN RECV %s SEND %s, PSN %s, SRQN %s, GID %s\n"
                .formatted(side, number, number, number, number, gid);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "127.0.0.1 | ::ffff:127.0.0.1 | ",
                "127.0.0.9 | ::ffff:127.0.0.9 | -e",
                "127.0.0.1 | ::ffff:127.0.0.1 | -n 20 -o",
                "::1 | ::1 | -n 100 -s 1",
                "127.0.0.1 | ::ffff:127.0.0.1 | -n 300 -s 10000 -m 256 -l 3",
                "127.0.0.1 | ::ffff:127.0.0.1 | -s 0",
                "127.0.0.1 | ::ffff:127.0.0.1 | --num_tests=20 --events --size 100 --mtu=4096 --sl 3 --ib-port=1",
            })
    void messagesAreExchanged(String address, String gid, String words) throws InterruptedException {
        String common = common(address) + (words == null ? "" : words);
        ToolRun server = ToolRun.start(common);
        ToolRun client = client(common + " localhost");
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.status()).as(server.err()).isZero();
        assertThat(client.out()).matches(line("  local", gid) + line(" remote", gid) + "success\n");
        assertThat(server.out()).matches(line(" remote", gid) + line("  local", gid) + "success\n");
        assertThat(client.err() + server.err()).isEmpty();
        assertThat(client.out().lines().findFirst().orElseThrow().replace("   local", ""))
                .isEqualTo(server.out().lines().findFirst().orElseThrow().replace("  remote", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-n 50", "-n 50 --events"})
    void aServerServesAllItsClients(String words) throws InterruptedException {
        String common = common("127.0.0.1") + words;
        ToolRun server = ToolRun.start(common + " --clients=4");
        List<ToolRun> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            clients.add(client(common + " -c 9 127.0.0.1")); // -c applies to the server only
        }
        for (ToolRun client : clients) {
            assertThat(client.status()).as(client.err()).isZero();
            assertThat(client.err()).isEmpty();
        }
        assertThat(server.status()).as(server.err()).isZero();
        assertThat(server.out().lines()).hasSize(9).endsWith("success");
    }

    @Test
    void differentCountsEndBothSides() throws InterruptedException {
        String common = common("127.0.0.1");
        ToolRun server = ToolRun.start(common + "-n 5");
        ToolRun client = client(common + "-n 8 127.0.0.1");
        assertThat(client.status()).isEqualTo(1);
        assertThat(client.err()).contains("5 of 8 messages received\n", "the same -n");
        assertThat(server.status()).isEqualTo(1);
        assertThat(server.err()).contains("0/4: Couldn't read remote termination ack\n", "the same -n");
    }

    @Test
    void messagesTooLargeForTheReceiverEndBothSides() throws InterruptedException {
        String common = common("127.0.0.1");
        ToolRun server = ToolRun.start(common + "-s 200");
        ToolRun client = client(common + "-s 100 127.0.0.1");
        assertThat(client.status()).isEqualTo(1);
        assertThat(server.status()).isEqualTo(1);
        assertThat(server.err() + client.err()).contains("Work completion error ", "the same -n and -s");
    }

    @Test
    void aClientEndsWhenItsServerExits() throws Exception {
        String common = common("127.0.0.1");
        ToolRun server = ToolRun.start(common + "-c 2");
        ToolRun client = client(common + "127.0.0.1").awaitText("remote");
        try (Socket other = new Socket(InetAddress.ofLiteral("127.0.0.1"), port)) {
            other.getOutputStream()
                    .write("something else that is as long as an address of this tool would be"
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(server.status()).isEqualTo(1);
        }
        assertThat(server.err()).startsWith("0/66: Couldn't read remote address [1]\n");
        assertThat(client.status()).isEqualTo(1);
        assertThat(client.err()).contains("0 of 5 messages received\n", "the peer has exited");
    }

    @Test
    void aMissingGidIsExplainedOnBothSides() throws InterruptedException {
        String common = TOOL + "-d rdma4j_lo -p " + port;
        ToolRun server = ToolRun.start(common);
        ToolRun client = client(common + " 127.0.0.1");
        assertThat(client.status()).isEqualTo(1);
        assertThat(server.status()).isEqualTo(1);
        assertThat(server.err())
                .startsWith("Failed to modify recv QP[0] to RTR\n")
                .contains("-g INDEX");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-x | ibv_xsrq_pingpong: invalid option -- 'x'",
                "-d nope | IB device nope not found",
                "--ib-dev=nope | IB device nope not found",
                "-i 0 | Failed to get port info",
                "-i 2 | Failed to get port info",
                "-s -1 | Couldn't allocate work buf.",
                "-c 100000000 | Couldn't create recv CQ",
                "-n 100000000 | Couldn't create send QP[0] errno 22",
                "-c 1024 -n 2097152 | Couldn't create send QP[0] errno 22",
                "-c 1024 -n 4194304 | Couldn't create send QP[0] errno 22",
                "-n 0 | ibv_xsrq_pingpong: -c and -n must be at least 1",
                "-p 1 127.0.0.1 | Couldn't connect to 127.0.0.1:1",
                "--gid-idx=1000 127.0.0.1 -p 2 | Couldn't connect to 127.0.0.1:2",
                "no.such.host.invalid | for no.such.host.invalid:18515",
            })
    void invalidInputIsReported(String words, String message) throws InterruptedException {
        ToolRun run = ToolRun.start(TOOL + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err().lines().findFirst().orElseThrow()).contains(message);
    }

    @Test
    void aMissingGidIsReported() throws IOException, InterruptedException {
        ToolRun server = ToolRun.start(common("127.0.0.1") + "-c 2");
        ToolRun client = client(TOOL + "-g 1000 -p " + port + " 127.0.0.1");
        assertThat(client.status()).isEqualTo(1);
        assertThat(client.err()).startsWith("can't read sgid of index 1000\n");
        assertThat(server.status()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-m 1000", "-p 70000", "-i -1", "a b"})
    void invalidValuesPrintTheUsage(String words) throws InterruptedException {
        ToolRun run = ToolRun.start(TOOL + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).startsWith("Usage:\n  ibv_xsrq_pingpong  ").endsWith("local port gid index\n");
    }

    @Test
    void jsonListsTheAddresses() throws InterruptedException {
        String common = common("127.0.0.1");
        ToolRun server = ToolRun.start(common);
        ToolRun client = client(common + "--json 127.0.0.1");
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.status()).isZero();
        assertThat(client.out())
                .contains("\"localAddresses\"", "\"remoteAddresses\"", "\"messagesReceived\": 5", "\"clients\": 1");
    }

    /** Uses separate processes, which the common options need. */
    @Test
    void lossesAreRepairedAndPacketsTraced(@TempDir Path folder) throws Exception {
        Path capture = folder.resolve("client.pcapng");
        String words = TOOL + "--device 127.0.0.1 --trace -n 50 -s 5000 -p " + port + " --fault loss=2%,seed=";
        List<String> serverLines = new CopyOnWriteArrayList<>();
        List<String> lines = new CopyOnWriteArrayList<>();
        try (ToolProcess server = ToolTestSupport.process(words + "3", serverLines)) {
            int status = -1;
            for (int tries = 0; tries < 20 && status != 0 && server.isAlive(); tries++) {
                lines.clear();
                try (ToolProcess client =
                        ToolTestSupport.process(words + "4 --pcap " + capture + " 127.0.0.1", lines)) {
                    status = client.await(60);
                }
            }
            assertThat(status).as(lines.toString()).isZero();
            assertThat(server.await(60)).as(serverLines.toString()).isZero();
        }
        assertThat(lines).contains("success").anyMatch(line -> line.contains("XRC_SEND_LAST"));
        RoceCapture packets = RoceCapture.read(capture);
        assertThat(packets.others()).isZero();
        assertThat(packets.bytes()).isGreaterThan(2 * 50 * 5000);
        assertThat(packets.opcodes()).containsKeys(Opcode.XRC_SEND_FIRST.code(), Opcode.XRC_SEND_LAST.code());
    }

    @Test
    void aPeerThatDoesNotRespondIsReportedWithTheRetries() throws InterruptedException {
        String words = TOOL + "--device 127.0.0.1 -p " + port;
        List<String> output = new CopyOnWriteArrayList<>();
        List<String> lines = new CopyOnWriteArrayList<>();
        try (ToolProcess server = ToolTestSupport.process(words + " --fault loss=100%", output)) {
            while (server.isAlive() && output.stream().noneMatch(line -> line.contains("Work completion error"))) {
                lines.clear();
                try (ToolProcess client = ToolTestSupport.process(words + " 127.0.0.1", lines)) {
                    client.await(60);
                }
            }
            assertThat(server.await(60)).as(output + " " + lines).isEqualTo(1);
        }
        assertThat(output)
                .filteredOn(line -> line.startsWith("ibv_xsrq_pingpong: "))
                .singleElement()
                .asString()
                .contains("RETRY_EXCEEDED_ERROR", "the peer did not answer; tried 8 times", "queue pair 0x");
    }

    @Test
    void theHelpHasOptionsAndExamples() throws InterruptedException {
        ToolRun run = ToolRun.start(TOOL + "--help");
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("(default 1024)\n", "--clients=<n>", "examples:", "--pcap");
    }
}
