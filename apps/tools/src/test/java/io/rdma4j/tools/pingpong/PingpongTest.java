package io.rdma4j.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The ping-pongs, each tested against itself on this host. */
@Timeout(90)
class PingpongTest {
    private static final String FIGURES =
            "\\d+ bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec\n\\d+ iters in \\d+\\.\\d\\d seconds = "
                    + "\\d+\\.\\d\\d usec/iter\n";

    /** Returns the options that select the device and the GID of a local address. */
    private static String at(InetAddress address) {
        Device device = Device.of(address).orElseThrow();
        try (DeviceContext context = device.open()) {
            return "-d " + device.name() + " -g " + context.gids(1).indexOf(Gid.of(address)) + " -p "
                    + ToolTestSupport.portNumber() + " ";
        }
    }

    /** Returns an IPv4 address of this host other than loopback. */
    private static Optional<InetAddress> networkAddress() throws SocketException {
        return NetworkInterface.networkInterfaces()
                .filter(network -> Device.named("rdma4j_" + network.getName()).isPresent())
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
                .findFirst();
    }

    /**
     * Sets a short timeout, for tests in which a side must time out. In other tests a timeout must not end a run that
     * other load slows down.
     */
    private static void useShortTimeout() {
        System.setProperty(ReceiveTimeout.PROPERTY, "2000");
    }

    @AfterEach
    void restoreTimeout() {
        System.clearProperty(ReceiveTimeout.PROPERTY);
    }

    private static String loopback() {
        return at(InetAddress.ofLiteral("127.0.0.1"));
    }

    private static ToolRun startServer(String words) throws InterruptedException {
        ToolRun server = ToolRun.start(words).awaitText("local address");
        Thread.sleep(100); // it listens shortly after the line
        return server;
    }

    /** Returns the pattern of a destination's line, with the separator between PSN and GID. */
    private static String line(String side, String separator, String gid) {
        return "  " + side + " address: *LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}" + separator + " GID " + gid
                + "\n";
    }

    private static void runPair(String tool, String options, String server, String gid) throws InterruptedException {
        ToolRun serving = startServer(tool + " " + options);
        ToolRun client = ToolRun.start(tool + " " + options + " " + server);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(serving.status()).as(serving.err()).isZero();
        String separator = tool.equals("ibv_ud_pingpong") ? ":" : ",";
        String lines = line("local", separator, gid) + line("remote", ",", gid) + FIGURES;
        assertThat(client.out()).matches(lines);
        assertThat(serving.out()).matches(lines);
        assertThat(client.err() + serving.err()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ibv_rc_pingpong | -n 50",
                "ibv_rc_pingpong | -n 50 -e",
                "ibv_rc_pingpong | -n 20 -c -s 20000",
                "ibv_rc_pingpong | -n 20 -s 1 -m 256 -r 2",
                "ibv_rc_pingpong | --iters=30 --events --size 100 --mtu=4096 --sl 3 -N --chk --rx-dep 5",
                "ibv_rc_pingpong | -n 5 -s 0",
                "ibv_rc_pingpong | -n 20 -o -P",
                "ibv_rc_pingpong | -n 20 -U",
                "ibv_uc_pingpong | -n 50",
                "ibv_uc_pingpong | -n 50 -e",
                "ibv_uc_pingpong | -n 20 -c -s 20000",
                "ibv_uc_pingpong | --iters=30 --events --size 100 --mtu=256 --sl 3 --chk --rx-dep 5",
                "ibv_uc_pingpong | -n 5 -s 0",
                "ibv_ud_pingpong | -n 50",
                "ibv_ud_pingpong | -n 50 -e",
                "ibv_ud_pingpong | -n 20 -c -s 4096",
                "ibv_ud_pingpong | --iters=30 --events --size 101 --sl 3 --chk --rx-dep 5",
                "ibv_ud_pingpong | -n 5 -s 0",
            })
    void messagesAreExchanged(String tool, String words) throws InterruptedException {
        runPair(tool, loopback() + words, "127.0.0.1", "::ffff:127.0.0.1");
    }

    @Test
    void timestampsShowTheIntervalsBetweenReceives() throws InterruptedException {
        String words = "ibv_rc_pingpong " + loopback() + "-n 50 -t";
        ToolRun serving = startServer(words);
        ToolRun client = ToolRun.start(words + " --json 127.0.0.1");
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(serving.status()).as(serving.err()).isZero();
        String lines = """
            Max receive completion clock cycles = (\\d+)
            Min receive completion clock cycles = (\\d+)
            Average receive completion clock cycles = (\\d+\\.\\d{6})
            """;
        Matcher figures = Pattern.compile(FIGURES + lines).matcher(serving.out());
        assertThat(figures.find()).as(serving.out()).isTrue();
        double average = Double.parseDouble(figures.group(3));
        assertThat(average).isBetween(Double.parseDouble(figures.group(2)), Double.parseDouble(figures.group(1)));
        assertThat(client.out()).contains("\"averageReceiveIntervalNanoseconds\"", "\"timestamps\": true");
    }

    @Test
    void oneReceiveHasNoIntervals() throws InterruptedException {
        String words = "ibv_rc_pingpong " + loopback() + "-n 1 -t";
        ToolRun serving = startServer(words);
        assertThat(ToolRun.start(words + " 127.0.0.1").status()).isZero();
        assertThat(serving.status()).isZero();
        assertThat(serving.out()).doesNotContain("clock cycles");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong"})
    void messagesAreExchangedOverIpv6(String tool) throws InterruptedException {
        InetAddress address = InetAddress.ofLiteral("::1");
        assumeThat(Device.of(address)).isPresent();
        runPair(tool, at(address) + "-n 20 -c -s 600", "::1", "::1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong"})
    void messagesAreExchangedOverANetworkAddress(String tool) throws Exception {
        Optional<InetAddress> address = networkAddress();
        assumeThat(address).isPresent();
        String text = address.orElseThrow().getHostAddress();
        runPair(tool, at(address.orElseThrow()) + "-n 20 -c -s 600", text, "::ffff:" + text);
    }

    @ParameterizedTest
    @CsvSource({"ibv_rc_pingpong, 5, 30", "ibv_rc_pingpong, 30, 5"})
    void differentCountsAreReported(String tool, int serverCount, int clientCount) throws InterruptedException {
        useShortTimeout();
        String common = tool + " " + loopback();
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
                "ibv_rc_pingpong | -x | ibv_rc_pingpong: invalid option -- 'x'",
                "ibv_rc_pingpong | -O | The device doesn't support implicit ODP",
                "ibv_rc_pingpong | -U -o | CoCo unprotected memory cannot be used with ODP",
                "ibv_rc_pingpong | --allow-cc-unprotected -j | CoCo unprotected memory cannot be used with device memory",
                "ibv_rc_pingpong | -o -j | DM memory region can't be on demand",
                "ibv_rc_pingpong | -P | prefetch is valid only with on-demand memory region",
                "ibv_rc_pingpong | -j | Device doesn't support dm allocation",
                "ibv_rc_pingpong | -d nope | IB device nope not found",
                "ibv_rc_pingpong | -g 1000 | can't read sgid of index 1000",
                "ibv_rc_pingpong | -i 2 | Failed to modify QP to INIT",
                "ibv_rc_pingpong | -p 1 127.0.0.1 | Couldn't connect to 127.0.0.1:1",
                "ibv_rc_pingpong | no.such.host.invalid | for no.such.host.invalid:18515",
                "ibv_uc_pingpong | -t | ibv_uc_pingpong: invalid option -- 't'",
                "ibv_uc_pingpong | -g 1000 | can't read sgid of index 1000",
                "ibv_uc_pingpong | -i 2 | Failed to modify QP to INIT",
                "ibv_ud_pingpong | -m 256 | ibv_ud_pingpong: invalid option -- 'm'",
                "ibv_ud_pingpong | -d rdma4j_lo -g 1000 | Could not get local gid for gid index 1000",
                "ibv_ud_pingpong | -d rdma4j_lo -i 2 | Unable to query port info for port 2",
                "ibv_ud_pingpong | -d rdma4j_lo -s 4097 | Requested size larger than port MTU (4096)",
            })
    void invalidInputIsReported(String tool, String words, String message) throws InterruptedException {
        ToolRun run = ToolRun.start(tool + " " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err().lines().findFirst().orElseThrow()).endsWith(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ibv_rc_pingpong | -m 1000",
                "ibv_rc_pingpong | -p 70000",
                "ibv_rc_pingpong | -i 0",
                "ibv_rc_pingpong | a b",
                "ibv_uc_pingpong | -m 1000",
            })
    void invalidValuesPrintTheUsage(String tool, String words) throws InterruptedException {
        ToolRun run = ToolRun.start(tool + " " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).startsWith("Usage:\n  " + tool + "  ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ibv_rc_pingpong | Failed to modify QP to RTR",
                "ibv_uc_pingpong | Failed to modify QP to RTR",
                "ibv_ud_pingpong | Failed to create AH",
            })
    void aMissingGidIsExplainedOnBothSides(String tool, String line) throws InterruptedException {
        String common = tool + " -d rdma4j_lo -p " + ToolTestSupport.portNumber();
        ToolRun server = startServer(common);
        ToolRun client = ToolRun.start(common + " 127.0.0.1");
        assertThat(client.status()).isEqualTo(1);
        assertThat(server.status()).isEqualTo(1);
        assertThat(server.err()).startsWith(line + "\n").contains("-g INDEX");
    }

    @Test
    void aLostMessageEndsAnUnreliablePingpong() throws InterruptedException {
        useShortTimeout();
        String options = loopback() + "-n 10 ";
        ToolRun server = startServer("ibv_uc_pingpong " + options + "-s 100");
        ToolRun client = ToolRun.start("ibv_uc_pingpong " + options + "-s 300 127.0.0.1"); // dropped by the server
        assertThat(client.status()).isEqualTo(1);
        assertThat(client.err()).contains("No completion for 2 seconds\n", "a message was lost");
        assertThat(server.status()).isEqualTo(1);
    }

    @Test
    void theHelpListsTheOptionsAndTheSizeOfEachTool() throws InterruptedException {
        assertThat(helpOf("ibv_rc_pingpong"))
                .contains(
                        "(default 4096)\n",
                        "-m, --mtu",
                        "  -c, --chk\t            validate",
                        "-N, --new_send",
                        "  -U, --allow-cc");
        assertThat(helpOf("ibv_uc_pingpong"))
                .contains("(default 4096)\n", "-m, --mtu", "  -c, --chk              validate")
                .doesNotContain("--odp", "--ts", "--dm", "--new_send");
        assertThat(helpOf("ibv_ud_pingpong"))
                .contains("(default 2048)\n", "<SL> (default 0)")
                .doesNotContain("--mtu");
    }

    private static String helpOf(String tool) throws InterruptedException {
        ToolRun run = ToolRun.start(tool + " --help");
        assertThat(run.status()).isZero();
        return run.out();
    }

    @Test
    void figuresHaveADecimalPointInEveryLocale() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            assertThat(Pingpong.fixed(4.125)).isEqualTo("4.13");
        } finally {
            Locale.setDefault(before);
        }
    }
}
