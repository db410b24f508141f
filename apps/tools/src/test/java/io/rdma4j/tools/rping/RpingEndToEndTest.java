package io.rdma4j.tools.rping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.tools.ToolTestSupport;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests rping against itself over the software device in this process. */
@Timeout(60)
class RpingEndToEndTest {
    private static final List<String> SERVER_END =
            List.of("server DISCONNECT EVENT...", "wait for RDMA_READ_ADV state 10");
    private static final List<String> CLIENT_END = List.of("client DISCONNECT EVENT...");

    /** Returns the text of ping number {@code ping} with {@code size} bytes. */
    private static String text(int ping, int size) {
        StringBuilder text = new StringBuilder("rdma-ping-" + ping + ": ");
        for (int i = 0; text.length() < size - 1; i++) {
            text.append((char) ('A' + (ping + i) % 58));
        }
        return text.substring(0, size - 1);
    }

    private static void pingPong(String address, String more, int size, int count) throws InterruptedException {
        String common = "-a " + address + " -p " + ToolTestSupport.portNumber() + " -S " + size + " -v " + more;
        RpingRun server = RpingRun.startServer(common);
        RpingRun client = RpingRun.start("-c -V -C " + count + " " + common);
        assertThat(client.status()).as("client: " + client.err()).isZero();
        assertThat(server.status()).as("server: " + server.err()).isZero();
        List<String> texts =
                IntStream.range(0, count).mapToObj(ping -> text(ping, size)).toList();
        assertThat(client.dataLines())
                .isEqualTo(texts.stream().map("ping data: "::concat).toList());
        assertThat(server.dataLines())
                .isEqualTo(texts.stream().map("server ping data: "::concat).toList());
        assertThat(client.err().lines()).isEqualTo(CLIENT_END);
        assertThat(server.err().lines()).isEqualTo(SERVER_END);
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 64",
        "127.0.0.1, 23",
        "127.0.0.1, 1024",
        "127.0.0.1, 4097",
        "127.0.0.1, 65535",
        "127.0.0.5, 100"
    })
    void pingsAreEchoedOverIpv4(String address, int size) throws InterruptedException {
        assumeTrue(canBind(address), "only 127.0.0.1 is loopback here");
        pingPong(address, "", size, 10);
    }

    @ParameterizedTest
    @ValueSource(ints = {23, 64, 65535})
    void pingsAreEchoedOverIpv6(int size) throws InterruptedException {
        assumeTrue(canBind("::1"), "no IPv6 here");
        pingPong("::1", "", size, 10);
    }

    @Test
    void pingsAreEchoedOverANetworkAddress() throws Exception {
        Optional<String> address = networkAddress();
        assumeTrue(address.isPresent(), "only loopback here");
        pingPong(address.orElseThrow(), "", 1000, 10);
    }

    @Test
    void selfCreatedQueuePairWorks() throws InterruptedException {
        pingPong("127.0.0.1", "-q", 64, 5);
    }

    @Test
    void serverWithoutAddressServesEveryIpv4Address() throws InterruptedException {
        int port = ToolTestSupport.portNumber();
        RpingRun server = RpingRun.startServer("-p " + port);
        RpingRun client = RpingRun.start("-c -a 127.0.0.1 -C 2 -V -p " + port);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.status()).as(server.err()).isZero();
        assertThat(client.out()).isEmpty();
    }

    @Test
    void clientConnectsFromTheSourceAddress() throws InterruptedException {
        assumeTrue(canBind("127.0.0.9"), "only 127.0.0.1 is loopback here");
        int port = ToolTestSupport.portNumber();
        RpingRun server = RpingRun.startServer("-a 127.0.0.1 -p " + port);
        RpingRun client = RpingRun.start("-c -a 127.0.0.1 -I 127.0.0.9 -C 2 -V -p " + port);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.status()).as(server.err()).isZero();
    }

    @Test
    void missingServerIsRejectedWithReason8() throws InterruptedException {
        RpingRun client = RpingRun.start("-c -a 127.0.0.1 -C 1 -p " + ToolTestSupport.portNumber());
        assertThat(client.status()).isEqualTo(-1);
        assertThat(client.errorLines())
                .containsExactly(
                        "cma event RDMA_CM_EVENT_REJECTED, error 8", "wait for CONNECTED state 4", "connect error -1");
        assertThat(client.explanations()).singleElement().asString().contains("127.0.0.1");
    }

    @Test
    void portInUseIsReported() throws InterruptedException {
        int port = ToolTestSupport.portNumber();
        RpingRun first = RpingRun.startServer("-a 127.0.0.1 -p " + port);
        RpingRun second = RpingRun.start("-s -a 127.0.0.1 -p " + port);
        assertThat(second.status()).isEqualTo(-1);
        assertThat(second.errorLines()).containsExactly("rdma_bind_addr: Address already in use");
        assertThat(second.explanations()).singleElement().asString().contains("EADDRINUSE", String.valueOf(port));
        assertThat(RpingRun.start("-c -a 127.0.0.1 -C 1 -p " + port).status()).isZero();
        assertThat(first.status()).isZero();
    }

    @Test
    void addressOfAnotherHostCannotBeBound() throws InterruptedException {
        RpingRun server = RpingRun.start("-s -a 192.0.2.77");
        assertThat(server.status()).isEqualTo(-1);
        assertThat(server.errorLines()).singleElement().asString().startsWith("rdma_bind_addr: ");
        assertThat(server.explanations()).singleElement().asString().contains("192.0.2.77");
    }

    @Test
    void sizeBeyondTheServersBufferFailsOnBothSides() throws InterruptedException {
        int port = ToolTestSupport.portNumber();
        RpingRun server = RpingRun.startServer("-a 127.0.0.1 -S 64 -p " + port);
        RpingRun client = RpingRun.start("-c -a 127.0.0.1 -S 1000 -C 1 -p " + port);
        assertThat(server.status()).isEqualTo(-1);
        assertThat(server.errorLines())
                .startsWith(
                        "cq completion failed status 4",
                        "wait for RDMA_READ_COMPLETE state 11",
                        "rping server failed: -1");
        assertThat(client.status()).isEqualTo(-1);
        assertThat(client.errorLines()).contains("client DISCONNECT EVENT...", "wait for RDMA_WRITE_ADV state 10");
        assertThat(client.explanations()).singleElement().asString().contains("after 0 of 1 pings");
    }

    @Test
    void negativeSizeFailsAtAllocation() throws InterruptedException {
        int port = ToolTestSupport.portNumber();
        RpingRun server = RpingRun.startServer("-a 127.0.0.1 -p " + port);
        RpingRun client = RpingRun.start("-c -a 127.0.0.1 -S -5 -p " + port);
        assertThat(client.status() & 0xff).isEqualTo(244);
        assertThat(client.errorLines()).containsExactly("rdma_buf malloc failed", "rping_setup_buffers failed: -12");
        assertThat(RpingRun.start("-c -a 127.0.0.1 -C 1 -p " + port).status()).isZero();
        assertThat(server.status()).isZero();
    }

    @Test
    void debugPrintsEveryStepOfTheClient() throws InterruptedException {
        int port = ToolTestSupport.portNumber();
        RpingRun server = RpingRun.startServer("-a 127.0.0.1 -p " + port);
        RpingRun client = RpingRun.start("-c -d -a 127.0.0.1 -C 1 -p " + port);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.status()).as(server.err()).isZero();
        assertThat(client.out().lines().map(line -> line.replaceAll("0x[0-9a-f]+", "P")))
                .containsSubsequence(
                        "count 1",
                        "created cm_id P",
                        "cma_event type RDMA_CM_EVENT_ADDR_RESOLVED cma_id P (parent)",
                        "cma_event type RDMA_CM_EVENT_ROUTE_RESOLVED cma_id P (parent)",
                        "rdma_resolve_addr - rdma_resolve_route successful",
                        "created pd P",
                        "created channel P",
                        "created cq P",
                        "created qp P",
                        "rping_setup_buffers called on cb P",
                        "allocated & registered buffers...",
                        "cma_event type RDMA_CM_EVENT_ESTABLISHED cma_id P (parent)",
                        "ESTABLISHED",
                        "rdma_connect successful",
                        "destroy cm_id P");
        assertThat(server.out().lines().map(line -> line.replaceAll("0x[0-9a-f]+", "P")))
                .containsSubsequence(
                        "rdma_bind_addr successful",
                        "rdma_listen",
                        "cma_event type RDMA_CM_EVENT_CONNECT_REQUEST cma_id P (child)",
                        "child cma P",
                        "accepting client connection request",
                        "server received sink adv",
                        "server posted rdma read req ",
                        "rdma read completion",
                        "server received read complete",
                        "server posted go ahead",
                        "server received sink adv",
                        "rdma write completion",
                        "server rdma write complete ",
                        "server posted go ahead");
    }

    @Test
    void manyRunsLeakNoResources() throws InterruptedException {
        int port = ToolTestSupport.portNumber();
        for (int i = 0; i < 20; i++) {
            RpingRun server = RpingRun.startServer("-a 127.0.0.1 -p " + port);
            RpingRun client = RpingRun.start("-c -a 127.0.0.1 -C 1 -V -p " + port);
            assertThat(client.status()).as("run " + i + ": " + client.err()).isZero();
            assertThat(server.status()).as("run " + i + ": " + server.err()).isZero();
        }
        List<Thread> left = new ArrayList<>(Thread.getAllStackTraces().keySet());
        left.removeIf(thread -> !thread.getName().startsWith("rping-"));
        assertThat(left).isEmpty();
    }

    private static boolean canBind(String address) {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.ofLiteral(address))) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    private static Optional<String> networkAddress() throws SocketException {
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
                .map(InetAddress::getHostAddress)
                .findFirst();
    }
}
