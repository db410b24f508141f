package io.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ToolProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that need a separate process, for other Java options or to terminate it by a signal. */
class PerftestProcessTest {
    private static final long SECONDS = 120;

    private final List<String> out = new CopyOnWriteArrayList<>();
    private final List<String> err = new CopyOnWriteArrayList<>();

    private ToolProcess start(String words, String javaOptions) {
        return ToolProcess.startWithInput(
                List.of((words + " --no-warm-up").split(" ")),
                Map.of("JAVA_TOOL_OPTIONS", javaOptions),
                out::add,
                err::add);
    }

    private void assertExplained(ToolProcess tool, String sentence) throws InterruptedException {
        assertThat(tool.await(SECONDS)).as(err.toString()).isEqualTo(1);
        assertThat(err).anyMatch(line -> line.contains(sentence)).noneMatch(line -> line.contains("defect"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_send_bw ::1", "ib_send_bw -R ::1", "ib_send_bw --ipv6"})
    void aHostWithoutIpv6IsReported(String words) throws InterruptedException {
        try (ToolProcess tool = start(words + ToolTestSupport.port(), "-Djava.net.preferIPv4Stack=true")) {
            assertThat(tool.await(SECONDS)).as(err.toString()).isEqualTo(1);
        }
        assertThat(err).noneMatch(line -> line.contains("defect")).anyMatch(line -> line.startsWith("ib_send_bw: "));
    }

    @Test
    void moreOperationsThanTheHeapHoldsAreReported() throws InterruptedException {
        String words = "ib_send_lat -n 100000000" + ToolTestSupport.port();
        try (ToolProcess server = start(words, "-Xmx64m")) {
            ToolTestSupport.await(out, "Waiting for client");
            ToolRun client = ToolRun.start(words + " 127.0.0.1");
            for (int i = 0; i < 200 && client.status() != 0 && client.err().contains("Couldn't connect"); i++) {
                Thread.sleep(50);
                client = ToolRun.start(words + " 127.0.0.1");
            }
            assertExplained(server, "-D SECONDS");
            assertThat(client.status()).isNotIn(0, 70);
        }
    }

    /** The name resolves to an IPv6 address first, like localhost on many hosts. */
    @ParameterizedTest
    @ValueSource(strings = {"-R", "-z", ""})
    void aNameResolvesToItsIpv4Address(String option, @TempDir Path folder) throws IOException, InterruptedException {
        Path hosts = folder.resolve("hosts");
        Files.writeString(hosts, "::1 both.example\n127.0.0.1 both.example\n");
        String words = ("ib_send_bw -n 20 " + option).strip() + ToolTestSupport.port();
        ToolRun server = ToolRun.start(words).awaitText("Waiting for client");
        Thread.sleep(200); // it listens shortly after the line
        try (ToolProcess client = start(words + " both.example", "-Djdk.net.hosts.file=" + hosts)) {
            assertThat(client.await(SECONDS)).as(err.toString()).isZero();
        }
        assertThat(server.status()).as(server.err()).isZero();
    }

    @Test
    void aPeerThatDoesNotRespondIsReportedWithTheRetries() throws InterruptedException {
        String words = "ib_write_bw -n 20" + ToolTestSupport.port();
        List<String> lines = new CopyOnWriteArrayList<>();
        try (ToolProcess server = ToolTestSupport.process(words, lines)) {
            ToolTestSupport.await(lines, "Waiting for client");
            Thread.sleep(200); // it listens just after the line
            try (ToolProcess client = start(words + " --fault loss=100% 127.0.0.1", "-Xshare:auto")) {
                assertThat(client.await(SECONDS)).as(err.toString()).isIn(1, 17);
            }
            server.terminate();
        }
        assertThat(err).contains(" Completion with error at client");
        assertThat(err)
                .filteredOn(line -> line.startsWith("ib_write_bw: "))
                .singleElement()
                .asString()
                .contains("RETRY_EXCEEDED_ERROR", "the peer did not answer; tried 8 times", "queue pair 0x");
    }

    @Test
    void anInfiniteRunReportsItsLastPeriodWhenTerminated() throws InterruptedException {
        String words = "ib_write_bw --run_infinitely -D 1 -s 4096" + ToolTestSupport.port();
        List<String> lines = new CopyOnWriteArrayList<>();
        try (ToolProcess server = ToolTestSupport.process(words, lines)) {
            ToolTestSupport.await(lines, "Waiting for client");
            Thread.sleep(200); // it listens shortly after the line
            try (ToolProcess client = start(words + " --json 127.0.0.1", "-Xshare:auto")) {
                for (int i = 0; i < 4000 && rows() < 3; i++) {
                    Thread.sleep(10);
                }
                client.terminate();
                client.await(SECONDS);
            }
            server.terminate();
        }
        assertThat(rows()).as(err.toString()).isGreaterThanOrEqualTo(3);
        assertThat(out)
                .filteredOn(line -> line.contains("\"averageMebibytesPerSecond\""))
                .hasSize(1);
    }

    private long rows() {
        return err.stream().filter(line -> line.startsWith(" 4096 ")).count();
    }

    /** The peer exits after some sizes. The client reports those measured before. */
    @Test
    void aFailedRunReportsTheCompletedSizes() throws InterruptedException {
        String words = "ib_send_bw -a -n 2000" + ToolTestSupport.port();
        List<String> lines = new CopyOnWriteArrayList<>();
        ToolProcess server = ToolTestSupport.process(words, lines);
        ToolTestSupport.await(lines, "Waiting for client");
        Thread.sleep(200); // it listens shortly after the line
        try (ToolProcess client = start(words + " --json 127.0.0.1", "-Xshare:auto")) {
            ToolTestSupport.await(err, " 4096 ");
            server.kill();
            assertThat(client.await(SECONDS)).isIn(1, 17);
        }
        assertThat(out).filteredOn(line -> line.contains("\"sizeBytes\": 4096")).hasSize(1);
    }
}
