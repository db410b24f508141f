package io.rdma4j.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ibv_srq_pingpong}, tested against itself over the loopback device. */
@Timeout(90)
class SrqPingpongTest {
    private static final String FIGURES =
            "\\d+ bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec\n\\d+ iters in \\d+\\.\\d\\d seconds = "
                    + "\\d+\\.\\d\\d usec/iter\n";

    private static String common(String text) {
        InetAddress address = InetAddress.ofLiteral(text);
        int port = ToolTestSupport.portNumber();
        Device device = Device.of(address).orElseThrow();
        try (DeviceContext context = device.open()) {
            int gid = context.gids(1).indexOf(Gid.of(address));
            return "ibv_srq_pingpong -d " + device.name() + " -g " + gid + " -p " + port + " ";
        }
    }

    private static ToolRun startServer(String words) throws InterruptedException {
        ToolRun server = ToolRun.start(words).awaitText("local address");
        Thread.sleep(200); // it listens shortly after the lines
        return server;
    }

    private static String lines(int queuePairs, String gid) {
        String destination = " LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID " + gid + "\n";
        return "(  local address: " + destination + "){" + queuePairs + "}(  remote address:" + destination + "){"
                + queuePairs + "}" + FIGURES;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "127.0.0.1 | ::ffff:127.0.0.1 | -n 200 | 16",
                "127.0.0.9 | ::ffff:127.0.0.9 | -n 200 -q 1 -r 1 | 1",
                "127.0.0.1 | ::ffff:127.0.0.1 | -n 50 -q 3 -o | 3",
                "::1 | ::1 | -n 100 -e -q 5 | 5",
                "127.0.0.1 | ::ffff:127.0.0.1 | -n 300 -q 40 -r 40 -c -s 5000 -m 256 | 40",
                "127.0.0.1 | ::ffff:127.0.0.1 | --iters=60 --events --size 1 --mtu=4096 --sl 3 --chk --rx-dep 7"
                        + " --num-qp=7 | 7",
            })
    void messagesOfAllQueuePairsAreExchanged(String address, String gid, String words, int queuePairs)
            throws InterruptedException {
        String common = common(address) + words;
        ToolRun server = startServer(common);
        ToolRun client = ToolRun.start(common + " localhost");
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.status()).as(server.err()).isZero();
        assertThat(client.out()).matches(lines(queuePairs, gid));
        assertThat(server.out()).matches(lines(queuePairs, gid));
        assertThat(client.err() + server.err()).isEmpty();
    }

    @Test
    void jsonListsTheAddressesOfAllQueuePairs() throws InterruptedException {
        String common = common("127.0.0.1") + "-q 2 -n 20";
        ToolRun server = startServer(common);
        ToolRun client = ToolRun.start(common + " --json 127.0.0.1");
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.status()).isZero();
        assertThat(client.out()).contains("\"queuePairs\"", "\"localAddresses\"", "\"remoteAddresses\"");
    }

    @Test
    void fewerQueuePairsThanThePeerAreReported() throws InterruptedException {
        String common = common("127.0.0.1");
        ToolRun server = startServer(common + "-q 4");
        ToolRun client = ToolRun.start(common + "-q 3 127.0.0.1");
        assertThat(server.status()).isEqualTo(1);
        assertThat(server.err())
                .startsWith("Failed to modify QP[3] to RTR\n")
                .contains("the same -q", "Couldn't connect to remote QP");
        assertThat(client.status()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-x | ibv_srq_pingpong: invalid option -- 'x'",
                "-q 17 -r 16 | rx_depth 16 is too small for 17 QPs -- must have at least one receive per QP.",
                "-q 256 | num_qp 256 must be less than 255",
                "-q 0 | num_qp must be at least 1",
                "-r 1000000 | Couldn't create SRQ",
                "-d nope | IB device nope not found",
                "-i 2 | Failed to modify QP[0] to INIT",
                "-p 1 127.0.0.1 | Couldn't connect to 127.0.0.1:1",
            })
    void invalidInputIsReported(String words, String message) throws InterruptedException {
        ToolRun run = ToolRun.start("ibv_srq_pingpong " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err().lines().findFirst()).contains(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-m 1000", "-s 0", "-p 70000", "-i 0", "a b"})
    void invalidValuesPrintTheUsage(String words) throws InterruptedException {
        ToolRun run = ToolRun.start("ibv_srq_pingpong " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).startsWith("Usage:\n  ibv_srq_pingpong  ");
    }
}
