package io.rdma4j.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import java.net.InetAddress;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ibv_rc_pingpong} against itself over the loopback device. */
@Timeout(90)
class RcPingpongTest {
    private static final String FIGURES =
            "\\d+ bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec\n\\d+ iters in \\d+\\.\\d\\d seconds = "
                    + "\\d+\\.\\d\\d usec/iter\n";
    private static final String PLACE = "LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID ::ffff:127.0.0.1\n";

    private static int port() {
        return ThreadLocalRandom.current().nextInt(20_000, 30_000);
    }

    private static int loopbackGid() {
        Gid gid = Gid.of(InetAddress.ofLiteral("127.0.0.1"));
        try (DeviceContext context = Device.named("rdma4j_lo").orElseThrow().open()) {
            return context.gids(1).indexOf(gid);
        }
    }

    private static String common() {
        return "ibv_rc_pingpong -d rdma4j_lo -g " + loopbackGid() + " -p " + port() + " ";
    }

    private static ToolRun startServer(String words) throws InterruptedException {
        ToolRun server = ToolRun.start(words).awaitText("local address");
        Thread.sleep(100); // it listens just after the line
        return server;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-n 50",
                "-n 50 -e",
                "-n 20 -c -s 20000",
                "-n 20 -s 1 -m 256 -r 2",
                "--iters=30 --events --size 100 --mtu=4096 --sl 3 -N --chk --rx-dep 5",
                "-n 5 -s 0"
            })
    void messagesGoToAndFro(String words) throws InterruptedException {
        String common = common() + words;
        ToolRun server = startServer(common);
        ToolRun client = ToolRun.start(common + " 127.0.0.1");
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.status()).as(server.err()).isZero();
        String lines = "  local address:  " + PLACE + "  remote address: " + PLACE + FIGURES;
        assertThat(client.out()).matches(lines);
        assertThat(server.out()).matches(lines);
        assertThat(client.err() + server.err()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"5, 30", "30, 5"})
    void countsThatDoNotMatchAreReported(int serverCount, int clientCount) throws InterruptedException {
        String common = common();
        ToolRun server = startServer(common + "-n " + serverCount);
        ToolRun client = ToolRun.start(common + "-n " + clientCount + " 127.0.0.1");
        ToolRun longer = serverCount > clientCount ? server : client;
        ToolRun shorter = serverCount > clientCount ? client : server;
        assertThat(shorter.status()).isZero();
        assertThat(longer.status()).isEqualTo(1);
        assertThat(longer.err()).contains("-n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-x | ibv_rc_pingpong: invalid option -- 'x'",
                "-o | The device isn't ODP capable or does not support RC send and receive with ODP",
                "-o -j | DM memory region can't be on demand",
                "-P | prefetch is valid only with on-demand memory region",
                "-t | The device isn't completion timestamp capable",
                "-j | Device doesn't support dm allocation",
                "-d nope | IB device nope not found",
                "-g 1000 | can't read sgid of index 1000",
                "-i 2 | Failed to modify QP to INIT",
                "-p 1 127.0.0.1 | Couldn't connect to 127.0.0.1:1",
                "no.such.host.invalid | Couldn't connect to no.such.host.invalid:18515",
            })
    void badInputIsAnsweredWithASentence(String words, String message) throws InterruptedException {
        ToolRun run = ToolRun.start("ibv_rc_pingpong " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err().lines().findFirst()).contains(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-m 1000", "-p 70000", "-i 0", "a b"})
    void wrongValuesAreAnsweredWithTheUsage(String words) throws InterruptedException {
        ToolRun run = ToolRun.start("ibv_rc_pingpong " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).startsWith("Usage:\n  ibv_rc_pingpong  ");
    }

    @Test
    void withoutGidBothSidesSayWhatToDo() throws InterruptedException {
        String common = "ibv_rc_pingpong -d rdma4j_lo -p " + port();
        ToolRun server = startServer(common);
        ToolRun client = ToolRun.start(common + " 127.0.0.1");
        assertThat(client.status()).isEqualTo(1);
        assertThat(server.status()).isEqualTo(1);
        assertThat(server.err()).startsWith("Failed to modify QP to RTR\n").contains("-g INDEX");
    }
}
