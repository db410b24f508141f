package io.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests each tool against itself over the loopback device. */
class PerftestTest {
    private static final String NUMBER = "\\d+\\.\\d\\d";
    private static final Pattern LATENCY =
            Pattern.compile("(?m)^ (\\d+) +(\\d+) {10}N +N +N +\t +N +\tN *\t\tN *\t\tN *$".replace("N", NUMBER));
    private static final Pattern TIMED = Pattern.compile("(?m)^ (\\d+) +(\\d+) {12}N +N *$".replace("N", NUMBER));
    private static final Pattern BANDWIDTH =
            Pattern.compile("(?m)^ (\\d+) +(\\d+) +N +N *\t\t {3}\\d+\\.\\d{6}$".replace("N", NUMBER));

    /** For tests in which a side must time out. Other tests have a long timeout, since load may slow them down. */
    private static void useShortTimeout() {
        System.setProperty(ReceiveTimeout.PROPERTY, "1500");
    }

    @AfterEach
    void restoreTimeout() {
        System.clearProperty(ReceiveTimeout.PROPERTY);
    }

    private record Pair(ToolRun server, ToolRun client) {}

    private static Pair runPair(String tool, String words) throws InterruptedException {
        return runPair(tool, words, words, "127.0.0.1");
    }

    private static Pair runPair(String tool, String serverWords, String clientWords, String address)
            throws InterruptedException {
        String port = ToolTestSupport.port() + " ";
        ToolRun server = ToolRun.start(tool + port + serverWords).awaitText("Waiting for client to connect");
        ToolRun client = startClient(server, tool + port + clientWords + " " + address);
        client.status();
        server.status();
        return new Pair(server, client);
    }

    /** Starts the client, again while it is refused: as in C, the server prints that it waits before it listens. */
    private static ToolRun startClient(ToolRun server, String clientWords) throws InterruptedException {
        ToolRun client = ToolRun.start(clientWords);
        for (int i = 0; i < 100 && client.status() != 0 && !server.hasEnded() && isRefused(client); i++) {
            Thread.sleep(20);
            client = ToolRun.start(clientWords);
        }
        return client;
    }

    private static boolean isRefused(ToolRun client) {
        return client.err().contains("ECONNREFUSED") || client.err().contains("Couldn't connect to");
    }

    private static void assertSuccess(Pair pair) throws InterruptedException {
        assertThat(pair.client().status()).as(pair.client().err()).isZero();
        assertThat(pair.server().status()).as(pair.server().err()).isZero();
        assertThat(pair.client().err() + pair.server().err()).isEmpty();
    }

    private static List<String> rows(Pattern pattern, ToolRun run) {
        List<String> rows = new ArrayList<>();
        Matcher matcher = pattern.matcher(run.out());
        while (matcher.find()) {
            rows.add(matcher.group(1) + " " + matcher.group(2));
        }
        return rows;
    }

    /** Returns the first word. */
    private static String toolOf(String words) {
        return words.contains(" ") ? words.substring(0, words.indexOf(' ')) : words;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ib_send_lat | -R -n 30 | 2 30",
                "ib_send_lat | -R -n 30 -c UD -s 1000 | 1000 30",
                "ib_send_lat | -n 30 -c UC -e | 2 30",
                "ib_send_lat | -z -n 30 -r 4 -s 64K -I 100 | 65536 30",
                "ib_write_lat | -R -n 30 | 2 30",
                "ib_write_lat | -R -n 300 -s 1 | 1 300",
                "ib_write_lat | -n 30 -c UC -s 5000 | 5000 30",
                "ib_send_lat | -R -n 30 -c UD --send_with_imm | 2 30",
                "ib_write_lat | -R -n 30 --write_with_imm | 2 30",
                "ib_send_lat | -n 30 -c XRC -r 4 | 2 30",
                "ib_send_lat | -z -n 30 -c XRC | 2 30",
                "ib_write_lat | -n 30 -c XRC -s 5000 | 5000 30",
                "ib_write_lat | -n 30 -c XRC --write_with_imm | 2 30",
                "ib_send_lat | -R -n 30 --use-srq -r 4 | 2 30",
                "ib_send_lat | -R -n 30 -c UD --use-srq | 2 30",
                "ib_write_lat | -n 30 -c UC -s 5000 -e -r 4 --write_with_imm | 5000 30",
            })
    void bothSidesReportLatencies(String tool, String words, String row) throws InterruptedException {
        Pair pair = runPair(tool, words);
        assertSuccess(pair);
        assertThat(rows(LATENCY, pair.client())).containsExactly(row);
        assertThat(rows(LATENCY, pair.server())).containsExactly(row);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ib_read_lat | -R -n 30 | 2 30",
                "ib_read_lat | -n 30 -s 10000 -e | 10000 30",
                "ib_atomic_lat | -R -n 30 | 8 30",
                "ib_read_lat | -n 30 -c XRC | 2 30",
                "ib_atomic_lat | -n 30 -A CMP_AND_SWAP -e | 8 30",
            })
    void theClientReportsLatenciesOfFetches(String tool, String words, String row) throws InterruptedException {
        Pair pair = runPair(tool, words);
        assertSuccess(pair);
        assertThat(rows(LATENCY, pair.client())).containsExactly(row);
        assertThat(rows(LATENCY, pair.server())).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ib_send_bw | -R -n 60 | 65536 60",
                "ib_send_bw | -R -n 60 -q 3 -s 100 -r 7 | 100 180",
                "ib_send_bw | -R -n 60 -s 4096 -b -q 2 | 4096 120",
                "ib_send_bw | -n 60 -s 300 -b -e | 300 60",
                "ib_send_bw | -n 60 -c UC -s 3000 | 3000 60",
                "ib_send_bw | -R -n 60 -c UD -s 1024 -b | 1024 60",
                "ib_write_bw | -R -n 60 | 65536 60",
                "ib_write_bw | -R -n 60 -q 2 -s 64 -b | 64 120",
                "ib_write_bw | -n 61 -q 3 -s 64 -Q 7 -t 16 --mr_per_qp --perform_warm_up | 64 183",
                "ib_write_bw | -z -n 60 -c UC -s 2K -N | 2048 60",
                "ib_send_bw | -R -n 60 -q 2 --send_with_imm | 65536 120",
                "ib_write_bw | -R -n 60 --write_with_imm | 65536 60",
                "ib_write_bw | -n 60 -q 3 -s 100 -r 8 -e --write_with_imm | 100 180",
                "ib_write_bw | -R -n 60 -s 4096 -b -q 2 --write_with_imm | 4096 120",
                "ib_write_bw | -n 60 -c UC -s 3000 --write_with_imm | 3000 60",
                "ib_send_bw | -R -n 60 -q 3 -s 100 --use-srq -r 30 | 100 180",
                "ib_send_bw | -n 60 -q 4 -s 3000 --use-srq -b --recv_post_list 3 --cqe_poll 1 | 3000 240",
                "ib_send_bw | -n 60 -c UC -s 100 --use-srq | 100 60",
                "ib_send_bw | -R -n 60 -c UD -s 1024 -b --use-srq | 1024 60",
                "ib_send_bw | -R -n 60 -s 300 --recv_post_list=20 -r 40 | 300 60",
                "ib_write_bw | -n 60 -q 2 -s 64 --write_with_imm --recv_post_list=4 --cqe_poll=200 | 64 120",
                "ib_send_bw | -n 60 -c XRC -q 3 -s 100 -r 30 | 100 180",
                "ib_send_bw | -n 60 -c XRC -q 2 -s 3000 -b | 3000 120",
                "ib_write_bw | -n 60 -c XRC -q 2 -b -s 100 | 100 120",
                "ib_read_bw | -n 60 -c XRC -s 10000 | 10000 60",
                "ib_atomic_bw | -n 60 -c XRC -q 2 | 8 120",
                "ib_write_bw | -n 60 -q 3 -s 64 --flow_label=0x12345,7 | 64 180",
                "ib_read_bw | -R -n 60 | 65536 60",
                "ib_read_bw | -n 60 -q 2 -s 100 -o 1 -e | 100 120",
                "ib_read_bw | -R -n 60 -s 100 -b | 100 60",
                "ib_atomic_bw | -R -n 60 | 8 60",
                "ib_atomic_bw | -n 60 -A CMP_AND_SWAP -q 2 | 8 120",
            })
    void bothSidesReportBandwidths(String tool, String words, String row) throws InterruptedException {
        Pair pair = runPair(tool, words);
        assertSuccess(pair);
        assertThat(rows(BANDWIDTH, pair.client())).containsExactly(row);
        assertThat(rows(BANDWIDTH, pair.server())).containsExactly(row);
    }

    @Test
    void aMessageWithoutImmediateDataIsReported() throws InterruptedException {
        Pair pair = runPair("ib_send_bw", "-n 60 --send_with_imm", "-n 60", "127.0.0.1");
        assertThat(pair.server().status()).isEqualTo(17);
        assertThat(pair.server().err())
                .startsWith(" Completion with wc_flags mismatch at server\n")
                .contains("the same options");
    }

    @Test
    void writesWithImmediateDataCanBeTimed() throws InterruptedException {
        Pair pair = runPair("ib_write_lat", "-R -D 1 --write_with_imm");
        assertSuccess(pair);
        assertThat(pair.client().out()).contains("RDMA_Write_imm Latency Test\n");
        Pair bandwidth = runPair("ib_write_bw", "-R -D 1 --write_with_imm");
        assertSuccess(bandwidth);
        assertThat(rows(BANDWIDTH, bandwidth.server())).hasSize(1);
    }

    @Test
    void sharedReceivesAndListsAreShown() throws InterruptedException {
        Pair pair = runPair("ib_send_bw", "-n 60 -q 2 -s 64 --use-srq --recv_post_list=10 --cqe_poll=7");
        assertSuccess(pair);
        assertThat(pair.server().out())
                .contains(
                        "\t\tUsing SRQ      : ON\n",
                        " Recv Post List  : 10\n RX depth        : 60\n",
                        " CQE Poll Batch  : 7\n");
    }

    @Test
    void extendedConnectionsNameTheirSharedReceiveQueue() throws InterruptedException {
        Pair pair = runPair("ib_send_bw", "-n 60 -q 2 -s 64 -c XRC -b");
        assertSuccess(pair);
        assertThat(pair.client().out())
                .contains(" Number of qps   : 4\t", " Connection type : XRC\t\tUsing SRQ      : ON\n")
                .containsPattern("remote address: LID 0000 QPN 0x[0-9a-f]+ PSN 0x[0-9a-f]+ SRQn 0x[0-9a-f]{6}\n");
    }

    @Test
    void moderationCoversAWholeListOfOperations() throws InterruptedException {
        Pair pair = runPair("ib_write_bw", "-R -n 60 -s 64 -l 20");
        assertSuccess(pair);
        assertThat(rows(BANDWIDTH, pair.client())).containsExactly("64 60");
        assertThat(pair.client().out())
                .contains(
                        "Post List requested - CQ moderation will be the size of the post list\n",
                        "RDMA_Write Post List BW Test\n",
                        " Post List       : 20\n",
                        " CQ Moderation   : 20\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ib_send_lat -R",
                "ib_write_lat -R",
                "ib_send_bw -R -b",
                "ib_send_bw",
                "ib_write_bw -R",
                "ib_write_bw -b --write_with_imm",
                "ib_write_lat --write_with_imm"
            })
    void allSizesAreMeasured(String words) throws InterruptedException {
        String tool = toolOf(words);
        Pair pair = runPair(tool, words.substring(tool.length()) + " -a -n 5");
        assertSuccess(pair);
        Pattern pattern = tool.endsWith("lat") ? LATENCY : BANDWIDTH;
        assertThat(rows(pattern, pair.client()))
                .hasSize(23)
                .startsWith("2 5", "4 5")
                .endsWith("8388608 5");
    }

    @Test
    void datagramsAreMeasuredUpToTheSizeOfAPacket() throws InterruptedException {
        Pair pair = runPair("ib_send_bw", "-R -c UD -a -n 20");
        assertThat(pair.client().status()).as(pair.client().err()).isZero();
        assertThat(pair.server().status()).as(pair.server().err()).isZero();
        assertThat(rows(BANDWIDTH, pair.client())).hasSize(12).endsWith("4096 20");
        assertThat(pair.client().err()).isEqualTo(" Max msg size in UD is MTU 4096\n Changing to this MTU\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_send_lat", "ib_write_lat", "ib_read_lat", "ib_atomic_lat"})
    void latencyTestsCanBeTimed(String tool) throws InterruptedException {
        Pair pair = runPair(tool, "-R -D 1");
        assertSuccess(pair);
        assertThat(rows(TIMED, pair.client())).hasSize(1);
        assertThat(pair.client().out()).contains(PerftestTable.latencyHead(true) + "\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_send_bw", "ib_write_bw -q 2", "ib_read_bw", "ib_send_bw -b", "ib_write_bw -b"})
    void bandwidthTestsCanBeTimed(String words) throws InterruptedException {
        String tool = toolOf(words);
        Pair pair = runPair(tool, words.substring(tool.length()) + " -R -D 1 -s 4096");
        assertSuccess(pair);
        assertThat(rows(BANDWIDTH, pair.client())).hasSize(1);
        assertThat(rows(BANDWIDTH, pair.server())).hasSize(1);
    }

    @Test
    void theDescriptionMatchesPerftest() throws InterruptedException {
        Pair pair = runPair("ib_write_lat", "-R -n 20");
        assertSuccess(pair);
        String info = """
            LINE
                                RDMA_Write Latency Test
             Dual-port       : OFF\t\tDevice         : rdma4j_lo
             Number of qps   : 1\t\tTransport type : IB
             Connection type : RC\t\tUsing SRQ      : OFF
             PCIe relax order: Unsupported
             ibv_wr* API     : OFF
             TX depth        : 1
             Mtu             : 4096[B]
             Link type       : Ethernet
             GID index       : [0-9]+
             Max inline data : 0[B]
             rdma_cm QPs\t : ON
             Data ex. method : rdma_cm
            """.replace("LINE", PerftestTable.LINE);
        String quoted = Pattern.quote(info).replace("[0-9]+", "\\E[0-9]+\\Q");
        String destination = """
            address: LID 0000 QPN 0x[0-9a-f]{4,6} PSN 0x[0-9a-f]{4,6}
             GID: 00:00:00:00:00:00:00:00:00:00:255:255:127:00:00:01
            """;
        String rest = PerftestTable.LINE + "\n local " + destination + " remote " + destination + PerftestTable.LINE
                + "\n" + Pattern.quote(PerftestTable.latencyHead(false)) + "\n.*\n" + PerftestTable.LINE + "\n";
        assertThat(pair.client().out()).matches(quoted + rest);
        String banner = """

            ************************************
            * Waiting for client to connect... *
            ************************************
            """;
        String waiting = PerftestTable.LINE + """

             Waiting for client rdma_cm QP to connect
             Please run the same command with the IB/RoCE interface IP
            """;
        assertThat(pair.server().out())
                .matches(Pattern.quote(banner) + quoted.replace(" TX depth        : 1\n", "") + waiting + rest);
    }

    @Test
    void keysAndAddressesArePrintedOverTcp() throws InterruptedException {
        Pair pair = runPair("ib_read_bw", "-n 20 -s 64");
        assertSuccess(pair);
        assertThat(pair.client().out())
                .containsPattern(" local address: LID 0000 QPN 0x[0-9a-f]+ PSN 0x[0-9a-f]+ OUT 0x[0-9a-f]+ RKey "
                        + "0x[0-9a-f]+ VAddr 0x[0-9a-f]+\n")
                .contains(" Data ex. method : Ethernet\n", " rdma_cm QPs\t : OFF\n");
    }

    @Test
    void everySampleIsPrinted() throws InterruptedException {
        Pair pair = runPair("ib_send_lat", "-R -n 20 -H -U");
        assertSuccess(pair);
        String out = pair.client().out();
        assertThat(out.split("#, usec\n", -1)).hasSize(3);
        assertThat(Pattern.compile("(?m)^\\d+, [0-9.e+-]+$")
                        .matcher(out)
                        .results()
                        .count())
                .isEqualTo(19 + 17);
    }

    @ParameterizedTest
    @CsvSource({
        "ib_send_lat, latency",
        "ib_write_bw, bandwidth",
        "ib_write_bw, message_rate",
    })
    void theOutputOptionPrintsASingleNumber(String tool, String kind) throws InterruptedException {
        Pair pair = runPair(tool, "-R -n 20", "-R -n 20 --output=" + kind, "127.0.0.1");
        assertSuccess(pair);
        assertThat(pair.client().out()).matches("\\d+\\.\\d{6}\n");
    }

    @Test
    void bothDirectionsAreReportedOnRequest() throws InterruptedException {
        Pair pair = runPair("ib_write_bw", "-R -n 20 -b --report-both --report_gbits");
        assertSuccess(pair);
        assertThat(pair.client().out())
                .contains("\n Local results: \n", "\n Remote results: \n", PerftestTable.bandwidthHead(true));
    }

    @Test
    void ipv6AddressesCanBeUsed() throws InterruptedException {
        assertSuccess(runPair("ib_write_lat", "-R -n 20 --ipv6", "-R -n 20 --ipv6", "::1"));
        assertSuccess(runPair("ib_send_bw", "-n 20 --ipv6", "-n 20 --ipv6", "::1"));
    }

    @Test
    void jsonHasParametersAndFigures() throws InterruptedException {
        Pair pair = runPair("ib_write_lat", "-R -n 20", "-R -n 20 --json", "127.0.0.1");
        assertThat(pair.server().status()).isZero();
        assertThat(pair.client().out())
                .startsWith("{\n  \"tool\": \"ib_write_lat\"")
                .contains(
                        "\"operation\": \"write\"",
                        "\"rdmaCm\": true",
                        "\"sizeBytes\": 2",
                        "\"percentile99.9Microseconds\"",
                        "\"status\": 0");
    }

    // ---- completion vectors

    private static int completionVectors() {
        Device lo = Device.list().stream()
                .filter(device -> device.name().equals("rdma4j_lo"))
                .findFirst()
                .orElseThrow();
        try (DeviceContext context = lo.open()) {
            return context.completionVectors();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ib_send_lat -R -n 30 -e",
                "ib_send_lat -R -n 30 -c UD",
                "ib_write_lat -R -n 30",
                "ib_write_bw -R -n 30 -q 2 -s 4096 -b",
                "ib_read_bw -n 30 -s 4096",
                "ib_atomic_lat -z -n 30",
            })
    void eachSideMayUseADifferentCompletionVector(String words) throws InterruptedException {
        String tool = toolOf(words);
        String rest = words.substring(tool.length());
        int last = completionVectors() - 1;
        assertSuccess(runPair(tool, rest + " -X " + last));
        assertSuccess(runPair(tool, rest + " -X " + last, rest, "127.0.0.1"));
        assertSuccess(runPair(tool, rest, rest + " -X " + last, "127.0.0.1"));
    }

    @Test
    void theCompletionVectorIsReported() throws InterruptedException {
        int last = completionVectors() - 1;
        String words = "-R -n 20 -e -X " + last;
        Pair pair = runPair("ib_send_lat", words, words + " --json", "127.0.0.1");
        assertThat(pair.server().status()).as(pair.server().err()).isZero();
        assertThat(pair.server().out()).contains(" Test with events. Using rdma4j_lo_comp" + last + "\n");
        assertThat(pair.client().out()).contains("\"completionVector\": " + last + ",");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-R", "-z", "-d rdma4j_lo"})
    void aMissingCompletionVectorIsRejected(String words) throws InterruptedException {
        int number = completionVectors();
        String wrong = words + " -n 20 -X " + number;
        String refusal = " Completion vector specified is invalid\n Max completion vector = " + (number - 1) + "\n";
        Pair pair = runPair("ib_write_lat", wrong, words + " -n 20", "127.0.0.1");
        assertThat(pair.server().status()).isEqualTo(1);
        assertThat(pair.server().err()).startsWith(refusal).contains("rdma4j_lo has completion vectors 0 to ");
        assertThat(pair.client().status()).isNotZero();
    }

    // ---- failures

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ib_write_lat | -R -n 20 | -R -n 40",
                "ib_write_lat | -R -n 40 | -R -n 20",
                "ib_send_lat | -R -n 20 | -R -n 40",
                "ib_send_lat | -R -n 40 | -R -n 20",
                "ib_send_bw | -R -n 40 | -R -n 20",
            })
    void differentCountsEndBothSides(String tool, String serverWords, String clientWords) throws InterruptedException {
        useShortTimeout();
        Pair pair = runPair(tool, serverWords, clientWords, "127.0.0.1");
        assertThat(pair.server().err() + pair.client().err())
                .containsAnyOf("both sides need the same -n", "was started with other options");
        assertThat(Math.max(pair.server().status(), pair.client().status())).isIn(1, 17);
    }

    @Test
    void aDifferentToolFails() throws InterruptedException {
        String port = ToolTestSupport.port();
        ToolRun server = ToolRun.start("ib_write_lat -R -n 20" + port).awaitText("Waiting for client");
        ToolRun client = startClient(server, "ib_read_lat -R -n 20" + port + " 127.0.0.1");
        assertThat(client.status()).isEqualTo(17);
        assertThat(client.err()).startsWith(" Completion with error at client\n Failed status ");
        assertThat(server.status()).isNotZero();
    }

    @Test
    void aClientWithoutServerReportsIt() throws InterruptedException {
        String port = ToolTestSupport.port();
        ToolRun overTcp = ToolRun.start("ib_write_lat" + port + " 127.0.0.1");
        assertThat(overTcp.status()).isEqualTo(1);
        assertThat(overTcp.err())
                .startsWith("Couldn't connect to 127.0.0.1:")
                .contains(" Unable to init the socket connection\n");
        ToolRun managed = ToolRun.start("ib_write_lat -R" + port + " 127.0.0.1");
        assertThat(managed.status()).isEqualTo(1);
        assertThat(managed.err())
                .startsWith(" Unable to perform rdma_client function\n Unable to init the socket connection\n")
                .contains("rdma_connect");
    }

    @Test
    void aResultBelowTheLimitFails() throws InterruptedException {
        Pair pair = runPair("ib_write_bw", "-R -n 20", "-R -n 20 -w 100000000", "127.0.0.1");
        assertThat(pair.client().status()).isEqualTo(1);
        assertThat(pair.client().err()).isEqualTo("Error: BW result is below bw limit\n");
        assertThat(pair.server().status()).isZero();
    }

    /** As in C, all sizes are measured, and it suffices that one of them reaches the limit. */
    @Test
    void oneOfAllSizesThatReachesTheLimitSuffices() throws InterruptedException {
        Pair reached = runPair("ib_write_bw", "-R -n 5 -a", "-R -n 5 -a -y 0.0005 -w 20", "127.0.0.1");
        assertThat(reached.client().status()).as(reached.client().err()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ib_write_bw | -n 20 -q 4 | -n 20 -q 2",
                "ib_write_bw | -n 20 -q 2 | -n 20 -q 4",
                "ib_send_bw | -R -n 20 -q 4 | -R -n 20 -q 2",
                "ib_send_bw | -R -n 20 -q 2 | -R -n 20 -q 4",
                "ib_read_bw | -z -n 20 -q 4 | -z -n 20 -q 2",
            })
    void bothSidesReportDifferentNumbersOfQueuePairs(String tool, String serverWords, String clientWords)
            throws InterruptedException {
        Pair pair = runPair(tool, serverWords, clientWords, "127.0.0.1");
        for (ToolRun run : List.of(pair.server(), pair.client())) {
            assertThat(run.status()).isEqualTo(1);
            assertThat(run.err()).contains("start both with the same -q");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ib_write_bw | -n 20 -q 4 --dont_xchg_versions | -n 20 -q 2 --dont_xchg_versions",
                "ib_write_bw | -n 20 -q 2 --dont_xchg_versions | -n 20 -q 4 --dont_xchg_versions",
                "ib_send_bw | -R -n 20 -q 4 --dont_xchg_versions | -R -n 20 -q 2 --dont_xchg_versions",
                "ib_send_bw | -R -n 20 -q 2 --dont_xchg_versions | -R -n 20 -q 4 --dont_xchg_versions",
                "ib_write_bw | -n 20 --dont_xchg_versions | -n 20",
                "ib_write_bw | -n 20 | -n 20 --dont_xchg_versions",
                "ib_send_lat | -R -n 20 --dont_xchg_versions | -R -n 20",
                "ib_send_lat | -R -n 20 | -R -n 20 --dont_xchg_versions",
            })
    void mismatchedParameterExchangesEnd(String tool, String serverWords, String clientWords)
            throws InterruptedException {
        useShortTimeout();
        Pair pair = runPair(tool, serverWords, clientWords, "127.0.0.1");
        assertThat(pair.server().status()).as(pair.server().err()).isNotIn(0, 70);
        assertThat(pair.client().status()).as(pair.client().err()).isNotIn(0, 70);
        assertThat(pair.server().err() + pair.client().err())
                .containsAnyOf("same options", "other options", "the same -q", "is it the same tool?");
    }

    @Test
    void aSilentPeerTimesOut() throws InterruptedException, IOException {
        useShortTimeout();
        int port = ToolTestSupport.portNumber();
        ToolRun server = ToolRun.start("ib_write_bw -n 20 -p " + port).awaitText("Waiting for client to connect");
        try (Socket silent = connect(port)) {
            silent.getOutputStream().write("6.06".getBytes(StandardCharsets.US_ASCII));
            assertThat(server.status()).isEqualTo(1);
        }
        assertThat(server.err()).contains("nothing was received from the peer for 1 s");
    }

    @ParameterizedTest
    @CsvSource({"'', 16", "--dont_xchg_versions, 108"})
    void textOfThePeerIsEscaped(String option, int bytes) throws InterruptedException, IOException {
        int port = ToolTestSupport.portNumber();
        ToolRun server =
                ToolRun.start("ib_write_bw -p " + port + " " + option).awaitText("Waiting for client to connect");
        byte[] text = Arrays.copyOf("\u001b[2J\u009b\r\n6".getBytes(StandardCharsets.ISO_8859_1), bytes);
        try (Socket peer = connect(port)) {
            peer.getOutputStream().write(text);
            assertThat(server.status()).isEqualTo(1);
        }
        assertThat(server.err()).contains("\\x1b[2J\\x9b\\x0d\\x0a6").doesNotContain("\u001b", "\u009b", "\r");
    }

    private static Socket connect(int port) throws InterruptedException, IOException {
        for (int i = 0; ; i++) {
            try {
                return new Socket(InetAddress.ofLiteral("127.0.0.1"), port);
            } catch (IOException e) {
                if (i == 500) {
                    throw e;
                }
                Thread.sleep(10);
            }
        }
    }
}
