package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.CapturedFrame;
import io.rdma4j.fixture.RoceCapture;
import io.rdma4j.tools.command.ToolProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests the warm-up of a tool's process as a user sees it. */
@Timeout(120)
class WarmUpProcessTest {
    private static final long LIMIT_SECONDS = 60;
    private static final int SIGINT_STATUS = 130;
    private static final String WARMED_UP = "ib_write_lat: warmed up for [0-9]+\\.[0-9] s \\(not with --no-warm-up\\)";

    private final String address = ToolTestSupport.loopback();
    private final String words = "ib_write_lat -R -n 200 --source_ip " + address + ToolTestSupport.port();
    private final List<String> out = new CopyOnWriteArrayList<>();
    private final List<String> err = new CopyOnWriteArrayList<>();

    /** Measures, with options for the client, and requires that the server prints its table and nothing else. */
    private void measure(String options) throws InterruptedException {
        List<String> serverOut = new CopyOnWriteArrayList<>();
        List<String> serverErr = new CopyOnWriteArrayList<>();
        try (ToolProcess server = ToolTestSupport.process(words, serverOut, serverErr)) {
            ToolTestSupport.await(serverOut, "Waiting for client");
            Thread.sleep(200); // it listens shortly after the line
            try (ToolProcess client = ToolTestSupport.process(words + options + " " + address, out, err)) {
                assertThat(client.await(LIMIT_SECONDS)).as("%s %s", out, err).isZero();
            }
            assertThat(server.await(LIMIT_SECONDS))
                    .as("%s %s", serverOut, serverErr)
                    .isZero();
        }
        requireTable(serverOut);
        assertThat(serverErr).isEmpty();
    }

    private static void requireTable(List<String> lines) {
        assertThat(lines)
                .filteredOn(line -> line.contains("RDMA_Write Latency Test"))
                .hasSize(1);
        assertThat(lines)
                .filteredOn(line -> line.startsWith(" 2 "))
                .singleElement()
                .asString()
                .startsWith(" 2       200 ");
    }

    @Test
    void theWarmUpIsALineOnStandardErrorAndNotCaptured(@TempDir Path folder) throws Exception {
        Path capture = folder.resolve("client.pcapng");
        measure(" --pcap " + capture);
        requireTable(out);
        assertThat(err).singleElement().asString().matches(WARMED_UP);
        RoceCapture packets = RoceCapture.read(capture);
        InetAddress own = InetAddress.ofLiteral(address);
        assertThat(packets.frames())
                .isNotEmpty()
                .extracting((CapturedFrame frame) -> frame.source().getAddress())
                .containsOnly(own);
        assertThat(packets.frames())
                .extracting((CapturedFrame frame) -> frame.destination().getAddress())
                .containsOnly(own);
        assertThat(packets.others()).isZero();
    }

    @Test
    void theDocumentHasTheDurationOfTheWarmUp() throws Exception {
        measure(" --json");
        requireTable(err);
        assertThat(err).filteredOn(line -> line.matches(WARMED_UP)).hasSize(1);
        assertThat(String.join("\n", out))
                .startsWith("{")
                .containsPattern("(?s)\"results\": \\{.*\"warmUpSeconds\": [0-9]+\\.[0-9].*\"status\": 0")
                .endsWith("}");
    }

    @Test
    void aToolWithoutWarmUpMeasuresImmediately() throws Exception {
        measure(" --no-warm-up");
        requireTable(out);
        assertThat(err).isEmpty();
    }

    private static boolean isWarmingUp(ToolProcess process) throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc", String.valueOf(process.pid()), "task"))) {
            return threads.anyMatch(thread -> nameOf(thread).startsWith("rdma4j-warm-up"));
        } catch (NoSuchFileException hasEnded) {
            return false;
        }
    }

    private static String nameOf(Path thread) {
        try {
            return Files.readString(thread.resolve("comm"));
        } catch (IOException hasEnded) {
            return "";
        }
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "shows the names of the threads")
    void aClientEndsSilentlyWhileItWarmsUp() throws Exception {
        ToolTestSupport.requireSigint();
        try (ToolProcess client = ToolTestSupport.process(words + " " + address, out, err)) {
            while (client.isAlive() && !isWarmingUp(client)) {
                Thread.sleep(5);
            }
            ToolTestSupport.interrupt(client);
            assertThat(client.await(LIMIT_SECONDS)).as("%s %s", out, err).isEqualTo(SIGINT_STATUS);
        }
        assertThat(out).isEmpty();
        assertThat(err).isEmpty();
    }
}
