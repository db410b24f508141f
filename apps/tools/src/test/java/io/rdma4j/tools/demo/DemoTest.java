package io.rdma4j.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.WarmUpChoice;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DemoTest {
    /** A generous limit, because the test machine may be busy. The demonstration's own limit is for users. */
    private static final Duration LIMIT = Duration.ofMinutes(4);

    @TempDir
    Path folder = Path.of("");

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private final ToolEnvironment environment = new ToolEnvironment(
            new PrintStream(out, true, StandardCharsets.UTF_8), new PrintStream(err, true, StandardCharsets.UTF_8));

    private int run(String... words) {
        return new Demo(folder, LIMIT).run(List.of(words), environment);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void demoPrintsPingsAndLatenciesAndWritesACapture() throws InterruptedException {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        ToolRun other = ToolRun.start("udaddy -b 127.0.0.1").awaitListening(); // as another demonstration would
        assertThat(run("-C", "200")).as(out() + err).isZero();
        other.interrupt();
        assertThat(out())
                .contains("server | server ping data: rdma-ping-2: CDEF", "client | ping data: rdma-ping-2: CDEF")
                .contains("200 pings came back byte for byte")
                .containsPattern("p50 +p90 +p99 +p99.9 +max")
                .contains("server | cmatose: disconnecting", "client | udaddy: connecting")
                .containsPattern("(?s)client \\| mckey: joined .*(server \\| data transfers complete.*){2}")
                .containsPattern("RDMA sockets +[0-9.]+ us +[0-9.]+ Gb/s\n +TCP sockets +[0-9.]+ us +[0-9.]+ Gb/s\n")
                .contains("Both sides warm up");
        assertThat(folder.resolve("rdma4j-demo.pcapng")).isNotEmptyFile();
    }

    /** Another user could have planted a link in such a folder. */
    @Test
    void demoRunsOverIpv6AndFollowsNoLinkInASharedFolder() throws Exception {
        Path elsewhere = Files.writeString(folder.resolve("elsewhere"), "precious");
        Files.createSymbolicLink(folder.resolve("rdma4j-demo.pcapng"), elsewhere);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(run("-a", "::1", "-C", "50")).as(out() + err).isZero();
        assertThat(elsewhere).hasContent("precious");
        assertThat(out())
                .contains("5. mckey: left out", folder + "/rdma4j-demo-")
                .doesNotContain("Both sides warm up");
    }

    @Test
    void processesEndWithTheDemonstration() throws Exception {
        FutureTask<Integer> demo = new FutureTask<>(() -> run("-C", "1000000000"));
        Thread.ofPlatform().daemon().start(demo);
        while (!demo.isDone() && !out().contains("2. 1000000000 pings")) {
            Thread.sleep(20);
        }
        List<ProcessHandle> children = awaitChildren(demo);
        environment.interrupt();
        for (ProcessHandle child : children) {
            child.onExit().get();
        }
        assertThat(demo.get()).isNotZero();
        assertThat(ProcessHandle.current().children()).noneMatch(ProcessHandle::isAlive);
        assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    private static List<ProcessHandle> awaitChildren(FutureTask<Integer> demo) throws InterruptedException {
        List<ProcessHandle> children = List.of();
        while (children.isEmpty()) {
            assertThat(demo.isDone()).isFalse();
            Thread.sleep(20);
            children = ProcessHandle.current().children().toList();
        }
        return children;
    }

    @Test
    void addressOfAnotherHostIsExplained() {
        assertThat(run("-a", "192.0.2.77", "-C", "1")).isEqualTo(1);
        assertThat(out()).contains("rdma_bind_addr: ").doesNotContain("Exception", "\tat ");
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("the server ended with status 255; the lines above say why");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-C 0", "-C 2147483647", "-C 1000000001", "-S 22", "-S 65536", "-x", "operand"})
    void wrongOptionsPrintHelp(String words) {
        assertThat(run(words.split(" "))).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("usage: rdma4j demo");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 ns",
        "999, 999 ns",
        "1000, 1.0 us",
        "99900, 99.9 us",
        "258000, 258 us",
        "2000000, 2.0 ms",
        "148000000, 148 ms",
        "1500000000, 1.5 s"
    })
    void durationsHaveAboutThreeDigits(long nanos, String text) {
        assertThat(LatencyTable.duration(nanos)).isEqualTo(text);
    }
}
