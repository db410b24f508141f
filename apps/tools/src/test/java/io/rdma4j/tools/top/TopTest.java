package io.rdma4j.tools.top;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.soft.report.DeviceReport;
import io.rdma4j.soft.report.QueuePairReport;
import io.rdma4j.soft.report.StackReport;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** rdma4j top. */
@Timeout(60)
class TopTest {
    private static final String ESCAPE = "\u001b[";

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ToolEnvironment environment = new ToolEnvironment(stream(), stream());

    private PrintStream stream() {
        return new PrintStream(out, true, StandardCharsets.UTF_8);
    }

    private String text() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void queuePairsOfARunningProcessAreListed() throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (CmId listener = ConnectionManager.ofProcess().listen(any, QueuePairInitAttributes.defaults())) {
            CompletableFuture<CmId> accepted = CompletableFuture.supplyAsync(() -> {
                CmId connection = listener.getRequest();
                connection.accept(ConnectionParameters.defaults());
                return connection;
            });
            InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort());
            try (CmId client = ConnectionManager.ofProcess().connect(server, QueuePairInitAttributes.defaults());
                    CmId connection = accepted.get(20, TimeUnit.SECONDS)) {
                assertThat(new Top(false).run(List.of("-d", "0.1", "-n", "2"), environment))
                        .isZero();
                for (CmId each : List.of(client, connection)) {
                    assertThat(text())
                            .containsPattern("\\n +%d  0x%06x  RC +RTS +127\\.0\\.0\\.1 "
                                    .formatted(
                                            ProcessHandle.current().pid(),
                                            Objects.requireNonNull(each.queuePair())
                                                    .number()));
                }
                assertThat(text()).containsPattern("rdma4j_lo +2 ").doesNotContain(ESCAPE);
                assertThat(text().split("PROGRAM", -1)).as("refreshes").hasSize(3);
            }
        }
    }

    @Test
    void withJsonTheReportHasTheRefreshesAndNoTableIsPrinted() {
        environment.forPrograms();
        assertThat(new Top(true).run(List.of("-d", "0.1", "-n", "2"), environment))
                .isZero();
        assertThat(text()).isEmpty();
        assertThat(environment.report().json("top", List.of(), Map.of(), 0, null))
                .contains("\"count\": 2", "\"refreshes\": [", "\"processes\": [", "\"intervalSeconds\": ");
    }

    @Test
    void aTerminalIsRefreshedUntilTheInterrupt() throws Exception {
        CompletableFuture<Integer> status =
                CompletableFuture.supplyAsync(() -> new Top(true).run(List.of("-d", "0.1"), environment));
        while (text().split("\u001b\\[2J", -1).length < 3) {
            assertThat(status).isNotDone();
            Thread.sleep(10);
        }
        environment.interrupt();
        assertThat(status.get(20, TimeUnit.SECONDS)).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-d 0", "-d x", "-n 0", "-n 1.5", "-x", "word"})
    void invalidCommandLinesAreRefused(String words) {
        assertThat(new Top(false).run(List.of(words.split(" ", -1)), environment))
                .isEqualTo(2);
        assertThat(text()).startsWith("rdma4j top: ").contains("usage: rdma4j top");
    }

    private static Sample sample(double seconds, long packets, long bytes, String state) {
        Map<String, Long> counters =
                Map.of("sent_pkts", packets, "retransmitted_pkts", packets / 100, "rdma_sends", packets / 10);
        StackReport report = new StackReport(
                4711,
                "org.example.Server",
                7,
                List.of(new DeviceReport("rdma4j_eth0", "eth0", 1, counters)),
                List.of(new QueuePairReport(
                        "rdma4j_eth0",
                        0x070001,
                        "RELIABLE_CONNECTION",
                        state,
                        "192.0.2.1",
                        "192.0.2.2",
                        1,
                        bytes,
                        0,
                        counters)),
                0);
        return new Sample((long) (seconds * 1e9), new StackReader.Answers(List.of(report), List.of("x: stopped")));
    }

    @Test
    void ratesAreThoseSinceTheLastSample() {
        Sample earlier = sample(1, 1000, 1_000_000, "READY_TO_SEND");
        Sample now = sample(3, 5000, 5_000_000, "READY_TO_SEND");
        assertThat(new TopTable(false).lines(now, earlier))
                .containsExactly(
                        "1 process, 1 queue pair",
                        "x: stopped",
                        "",
                        "     PID  PROGRAM                       DEVICE              QPS  SENTPKT/S  RCVDPKT/S    DROPPED"
                                + "    RETRANS",
                        "    4711  Server                        rdma4j_eth0           1       2.0k          0          0"
                                + "         50",
                        "",
                        "     PID  QPN       TYPE   STATE  PEER                        SENT/S    RCVD/S     MSG/S"
                                + "    RETR/S   RETRANS  TIMEOUTS       RNR",
                        "    4711  0x070001  RC     RTS    192.0.2.2                     2.0M         0       200"
                                + "        20        50         0         0");
    }

    @Test
    void aProcessThatOnlyListensIsListedToo() {
        StackReport listening = new StackReport(4712, "app.jar", 8, List.of(), List.of(), 0);
        Sample now = new Sample(1, new StackReader.Answers(List.of(listening), List.of()));
        assertThat(new TopTable(false).lines(now, new Sample(0, now.answers())))
                .contains("1 process, 0 queue pairs", "    4712  app.jar                       -");
    }

    @Test
    void aTerminalHasColoursForRetransmissionsAndErrors() {
        Sample earlier = sample(1, 1000, 0, "READY_TO_SEND");
        assertThat(new TopTable(true)
                        .lines(sample(2, 2000, 0, "READY_TO_SEND"), earlier)
                        .getLast())
                .startsWith(ESCAPE + "33m");
        assertThat(new TopTable(true)
                        .lines(sample(2, 2000, 0, "ERROR"), earlier)
                        .getLast())
                .startsWith(ESCAPE + "31m");
        assertThat(new TopTable(true)
                        .lines(sample(2, 1000, 0, "READY_TO_SEND"), earlier)
                        .getLast())
                .startsWith("    4711");
    }
}
