package io.rdma4j.tools.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.spi.ServiceLookup;
import io.rdma4j.fixture.RoceCapture;
import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.wire.Opcode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests rdma_client and rdma_server against each other in one process. */
@Timeout(90)
class EndpointToolsTest {
    private static final String CLIENT = "rdma_client: start\nrdma_client: end %d\n";
    private static final String SERVER = "rdma_server: start\nrdma_server: end %d\n";

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
    @CsvSource({
        "0.0.0.0, 127.0.0.1",
        "::, ::1",
        "::, 127.0.0.1",
        "127.0.0.1, 127.0.0.1",
        "::1, ::1",
        "localhost, localhost"
    })
    void eachSideReceivesThePeersMessage(String local, String remote) throws InterruptedException {
        String port = ToolTestSupport.port();
        ToolRun server = ToolRun.start(new RdmaServer(), "-s " + local + port);
        expectSuccess(server, EndpointPairs.clientOf(server, new RdmaClient(), "-s " + remote + port));
    }

    @Test
    void anotherLocalAddressCanBeUsed() throws InterruptedException {
        String words = "-s " + ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun server = ToolRun.start(new RdmaServer(), words);
        expectSuccess(server, EndpointPairs.clientOf(server, new RdmaClient(), words));
    }

    @Test
    void defaultsConnectOnThisHost() throws InterruptedException {
        ToolRun server = ToolRun.start("rdma_server");
        expectSuccess(server, EndpointPairs.clientOf(server, new RdmaClient(), "extra words"));
    }

    @Test
    void aServiceNameIsAPort() throws InterruptedException {
        assumeTrue(serviceExists("postgresql", 5432), "the system has no services file");
        String address = "-s " + ToolTestSupport.loopback();
        ToolRun server = ToolRun.start(new RdmaServer(), address + " -p postgresql");
        expectSuccess(server, EndpointPairs.clientOf(server, new RdmaClient(), address + " -p 5432"));
    }

    private static boolean serviceExists(String name, int port) {
        try {
            return ServiceLookup.port("test", name, ServiceLookup.Protocol.TCP) == port;
        } catch (AddressLookupException unknown) {
            return false;
        }
    }

    @Test
    void resultsAreReportedAsJson() throws InterruptedException {
        String words = "-s " + ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun server = ToolRun.start(new RdmaServer(), words + " --json");
        ToolRun client = EndpointPairs.clientOf(server, new RdmaClient(), words + " --json");
        assertThat(server.status()).as(server.err()).isZero();
        assertThat(client.out())
                .contains(
                        "\"tool\": \"rdma_client\"",
                        "\"role\": \"client\"",
                        "\"messagesReceived\": 1",
                        "\"status\": 0");
        assertThat(server.out()).contains("\"role\": \"server\"", "\"messagesReceived\": 1", "\"elapsedSeconds\"");
        assertThat(client.err()).isEqualTo(CLIENT.formatted(0));
    }

    @Test
    void missingServerIsReported() throws InterruptedException {
        String address = ToolTestSupport.loopback();
        ToolRun bystander = ToolRun.start(new RdmaServer(), "-s " + address + " -p 2001");
        ToolRun client = EndpointPairs.clientOf(bystander, new RdmaClient(), "-s " + address + " -p 2001");
        assertThat(client.status()).isZero();
        bystander.status();
        ToolRun refused = ToolRun.of(new RdmaClient(), "-s " + address + " -p 2002");
        assertThat(refused.status()).isEqualTo(-1);
        assertThat(refused.out()).isEqualTo(CLIENT.formatted(-1));
        assertThat(refused.err())
                .startsWith("rdma_connect: Connection refused\nrdma_client: ")
                .contains("2002");
    }

    @Test
    void portInUseIsReported() throws InterruptedException {
        String words = "-s " + ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun first = ToolRun.start(new RdmaServer(), words);
        ToolRun second = ToolRun.start(new RdmaServer(), words);
        while (!first.hasEnded() && !second.hasEnded()) {
            Thread.sleep(10);
        }
        ToolRun refused = first.hasEnded() ? first : second;
        ToolRun other = first.hasEnded() ? second : first;
        assertThat(refused.status()).isEqualTo(-1);
        assertThat(refused.out()).isEqualTo(SERVER.formatted(-1));
        assertThat(refused.err()).startsWith("rdma_create_ep: Address already in use\nrdma_server: ");
        EndpointPairs.clientOf(other, new RdmaClient(), words);
        assertThat(other.status()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-s no.such.host.invalid | rdma_getaddrinfo:",
                "-p no-such-service | rdma_getaddrinfo: Servname not supported for ai_socktype",
                "-p 70000 | rdma_getaddrinfo: Servname not supported for ai_socktype",
                "-s 203.0.113.77 -p 2003 | rdma_create_ep:"
            })
    void failuresAreExplained(String words, String line) throws InterruptedException {
        for (Tool tool : new Tool[] {new RdmaClient(), new RdmaServer()}) {
            boolean unroutable = words.contains("203.") && tool instanceof RdmaClient;
            ToolRun run = ToolRun.of(tool, unroutable ? words.replace("203.0.113.77", "255.255.255.255") : words);
            assertThat(run.status()).as(run.err()).isEqualTo(-1);
            assertThat(run.out() + run.err()).contains(line, tool.name() + ": start\n");
            assertThat(run.out()).endsWith(tool.name() + ": end -1\n");
            assertThat(run.err().lines().reduce((first, last) -> last).orElse(""))
                    .startsWith(tool.name() + ": ");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"-x | invalid option -- 'x'", "-p | option requires an argument -- 'p'"})
    void invalidOptionsPrintTheUsage(String words, String message) throws InterruptedException {
        for (Tool tool : new Tool[] {new RdmaClient(), new RdmaServer()}) {
            ToolRun run = ToolRun.of(tool, words);
            assertThat(run.status()).isEqualTo(1);
            assertThat(run.err()).isEqualTo(tool.name() + ": " + message + "\n");
            assertThat(run.out()).isEqualTo("usage: " + tool.name() + "\n\t[-s server_address]\n\t[-p port_number]\n");
        }
    }

    @Test
    void serverEndsIfTheClientSendsNothing() throws InterruptedException {
        String address = ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun server = ToolRun.start(new RdmaServer(), "-s " + address);
        ToolRun silent = EndpointPairs.clientOf(server, new Ucmatose(), "-C 0 -s " + address);
        assertThat(server.status()).isEqualTo(-110);
        assertThat(server.out()).isEqualTo(SERVER.formatted(-110));
        assertThat(server.err()).startsWith("rdma_server: the peer did not send its message within 1 s");
        assertThat(silent.status()).as(silent.err()).isZero();
    }

    @Test
    void oversizedMessageEndsTheClient() throws InterruptedException {
        String address = ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun server = ToolRun.start(new Ucmatose(), "-S 17 -C 1 -b " + address);
        ToolRun client = EndpointPairs.clientOf(server, new RdmaClient(), "-s " + address);
        assertThat(client.status()).as(client.err()).isEqualTo(-5);
        assertThat(client.out()).isEqualTo(CLIENT.formatted(-5));
        assertThat(client.err()).contains("rdma_client: the peer's message was not received: LOCAL_LENGTH_ERROR");
        assertThat(server.status()).isNotZero();
    }

    // ---- in separate processes, which the common options require

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void lossesAreRecoveredAndPacketsCaptured(int seed, @TempDir Path folder) throws Exception {
        Path capture = folder.resolve("client.pcapng");
        String address = ToolTestSupport.loopback();
        String words = "-s " + address + " --trace --device " + address;
        List<String> lines = EndpointPairs.exchangeUnderLoss(
                "rdma_server " + words + " --fault dup=30%,seed=" + seed,
                "rdma_client --pcap " + capture + " " + words + " --fault loss=10%,seed=",
                10 * seed);
        assertThat(lines).contains("rdma_client: end 0").anyMatch(line -> line.contains("RC_SEND_ONLY"));
        RoceCapture packets = RoceCapture.read(capture);
        assertThat(packets.others()).isZero();
        assertThat(packets.opcodes()).containsKeys(Opcode.RC_SEND_ONLY.code(), Opcode.RC_ACKNOWLEDGE.code());
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma_client", "rdma_server"})
    void helpHasExamples(String name) throws InterruptedException {
        ToolRun run = ToolRun.start(name + " --help");
        assertThat(run.status()).isZero();
        assertThat(run.out()).startsWith("usage: " + name + "\n").contains("examples:", "--pcap", "--json");
    }
}
