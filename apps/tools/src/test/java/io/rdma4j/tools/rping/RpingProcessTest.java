package io.rdma4j.tools.rping;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.RoceCapture;
import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ToolProcess;
import io.rdma4j.wire.Opcode;
import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests rping in separate processes that share one address. */
@Timeout(120)
class RpingProcessTest {
    private static final long TIMEOUT_SECONDS = 60;

    private final String port = String.valueOf(ThreadLocalRandom.current().nextInt(10_000, 20_000));
    private final List<String> serverOut = new CopyOnWriteArrayList<>();
    private final List<String> serverErr = new CopyOnWriteArrayList<>();

    private ToolProcess server(String... more) throws InterruptedException {
        return serverAt("127.0.0.1", more);
    }

    private ToolProcess serverAt(String address, String... more) throws InterruptedException {
        List<String> words = new ArrayList<>(List.of("rping", "-s", "-d", "-a", address, "-p", port));
        words.addAll(List.of(more));
        ToolProcess server = ToolProcess.start(words, serverOut::add, serverErr::add);
        for (int i = 0; i < 2000 && server.isAlive() && !serverOut.contains("rdma_listen"); i++) {
            Thread.sleep(10);
        }
        Thread.sleep(100); // the server prints the line just before it listens
        return server;
    }

    private ToolProcess client(List<String> lines, String... more) {
        List<String> words = new ArrayList<>(List.of("rping", "-c", "-V", "-a", "127.0.0.1", "-p", port));
        words.addAll(List.of(more));
        return ToolProcess.start(words, lines::add, lines::add);
    }

    @Test
    void persistentServerServesEightConcurrentClients() throws InterruptedException {
        try (ToolProcess server = server("-P", "-S", "4000")) {
            List<ToolProcess> clients = new ArrayList<>();
            List<List<String>> lines = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                lines.add(new CopyOnWriteArrayList<>());
                clients.add(client(lines.get(i), "-C", "50", "-S", String.valueOf(23 + 500 * i)));
            }
            for (int i = 0; i < clients.size(); i++) {
                assertThat(clients.get(i).await(TIMEOUT_SECONDS))
                        .as("client " + i + ": " + lines.get(i))
                        .isZero();
            }
            assertThat(server.isAlive()).isTrue();
            server.terminate();
            assertThat(server.await(TIMEOUT_SECONDS)).isEqualTo(143);
        }
    }

    @Test
    void serverOfTheIpv6WildcardServesEveryAddressToAnotherProcess() throws InterruptedException, SocketException {
        List<String> addresses = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .map(ToolTestSupport::text)
                .toList();
        try (ToolProcess server = serverAt("::0", "-P")) {
            for (String address : addresses) {
                ToolRun client = ToolRun.start("rping -c -V -C 2 -a " + address + " -p " + port);
                assertThat(client.status())
                        .as(address + ": " + client.out() + client.err())
                        .isZero();
            }
            assertThat(server.isAlive()).as(serverErr.toString()).isTrue();
        }
    }

    @Test
    void terminatedClientDisconnectsFromItsServer() throws InterruptedException {
        List<String> lines = new CopyOnWriteArrayList<>();
        try (ToolProcess server = server("-v");
                ToolProcess client = client(lines)) {
            for (int i = 0; i < 2000 && serverOut.stream().noneMatch(line -> line.contains("rdma-ping-50")); i++) {
                Thread.sleep(10);
            }
            client.terminate();
            assertThat(client.await(TIMEOUT_SECONDS)).isEqualTo(143);
            assertThat(lines).as("C prints nothing when it is killed").isEmpty();
            assertThat(server.await(TIMEOUT_SECONDS)).isNotEqualTo(-1);
            assertThat(serverErr).contains("server DISCONNECT EVENT...");
        }
    }

    @Test
    void captureIsWrittenToTheNamedFile(@TempDir Path folder) throws InterruptedException, IOException {
        Path capture = folder.resolve("ping.pcapng");
        List<String> lines = new CopyOnWriteArrayList<>();
        try (ToolProcess server = server();
                ToolProcess client = client(lines, "-C", "3", "--pcap", capture.toString())) {
            assertThat(client.await(TIMEOUT_SECONDS)).as(lines.toString()).isZero();
            assertThat(server.await(TIMEOUT_SECONDS)).as(serverErr.toString()).isZero();
        }
        RoceCapture packets = RoceCapture.read(capture);
        assertThat(packets.others()).isZero();
        assertThat(packets.opcodes())
                .containsKeys(Opcode.RC_SEND_ONLY.code(), Opcode.RC_READ_REQUEST.code(), Opcode.RC_WRITE_ONLY.code());
    }

    @Test
    void lossIsRecovered() throws InterruptedException {
        List<String> lines = new CopyOnWriteArrayList<>();
        try (ToolProcess server = server("-S", "5000", "--fault", "loss=1%,seed=5");
                ToolProcess client = client(lines, "-C", "30", "-S", "5000", "--fault", "loss=1%,dup=1%,seed=6")) {
            assertThat(client.await(TIMEOUT_SECONDS)).as(lines.toString()).isZero();
            assertThat(server.await(TIMEOUT_SECONDS)).as(serverErr.toString()).isZero();
        }
    }
}
