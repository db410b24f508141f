package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.tools.command.ToolProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests the output of a tool's process. */
@Timeout(120)
class ToolProcessTest {
    private static final long LIMIT_SECONDS = 60;

    private final List<String> out = new CopyOnWriteArrayList<>();
    private final List<String> err = new CopyOnWriteArrayList<>();

    @Test
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "SIGQUIT requests the dump")
    void threadDumpIsNotOnStandardOutput() throws Exception {
        String address = ToolTestSupport.loopback();
        try (ToolProcess server =
                ToolTestSupport.process("rping -s -d -a " + address + ToolTestSupport.port(), out, err)) {
            ToolTestSupport.await(out, "rdma_listen");
            Process kill = new ProcessBuilder("kill", "-QUIT", String.valueOf(server.pid())).start();
            assertThat(kill.waitFor()).isZero();
            ToolTestSupport.await(err, "Full thread dump");
            server.terminate();
            server.await(LIMIT_SECONDS);
        }
        assertThat(err).anyMatch(line -> line.contains("Full thread dump"));
        assertThat(out).noneMatch(line -> line.contains("Full thread dump"));
    }

    @Test
    void warningsOfJavaAreNotOnStandardOutput() throws Exception {
        // Java prints a warning if there are no large pages, which is almost always the case.
        Map<String, String> variables = Map.of("JDK_JAVA_OPTIONS", "-XX:+UseLargePages");
        try (ToolProcess process =
                ToolProcess.startWithInput(List.of("ibv_devices", "--json"), variables, out::add, err::add)) {
            assertThat(process.await(LIMIT_SECONDS)).isZero();
        }
        assertThat(out).first().isEqualTo("{");
        assertThat(out).last().isEqualTo("}");
    }

    @Test
    void outputIsReadInTheEncodingThatToolsWrite() throws Exception {
        assumeTrue("UTF-8".equals(System.getProperty("sun.jnu.encoding")), "needs a locale that has the letter");
        try (ToolProcess process = ToolProcess.start(List.of("rping", "--fault", "\u00e9=1%"), out::add, err::add)) {
            assertThat(process.await(LIMIT_SECONDS)).isEqualTo(2);
        }
        assertThat(err).anyMatch(line -> line.contains("\u00e9"));
    }

    /** Runs a line of bash in which {@code $@} is a tool. */
    private int shell(String line, String words) throws Exception {
        List<String> command = new ArrayList<>(List.of("timeout", "60", "bash", "-c", line, "bash"));
        command.addAll(ToolProcess.command(List.of(words.split(" "))));
        Process process = new ProcessBuilder(command).start();
        out.addAll(process.inputReader().lines().toList());
        err.addAll(process.errorReader().lines().toList());
        assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void toolEndsWhenTheReaderOfItsOutputIsClosed() throws Exception {
        String address = " -a " + ToolTestSupport.loopback() + ToolTestSupport.port();
        List<String> served = new CopyOnWriteArrayList<>();
        try (ToolProcess server = ToolTestSupport.process("rping -s -d" + address, served)) {
            ToolTestSupport.await(served, "rdma_listen");
            assertThat(shell("\"$@\" | head -n 1; exit ${PIPESTATUS[0]}", "rping -c -v" + address))
                    .isEqualTo(141);
            assertThat(out).hasSize(1).first().asString().startsWith("ping data: ");
            assertThat(server.await(LIMIT_SECONDS)).isNotNegative(); // its client has disconnected
        }
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "has a device that is always full")
    void outputThatCannotBeWrittenIsAFailure() throws Exception {
        assertThat(shell("\"$@\" >/dev/full", "ibv_devices --json")).isEqualTo(1);
        assertThat(err).last().asString().startsWith("rdma4j: standard output: ");
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs a named pipe")
    void incompleteCaptureIsReportedAsFailure(@TempDir Path folder) throws Exception {
        String address = " -a " + ToolTestSupport.loopback() + ToolTestSupport.port();
        Path pipe = folder.resolve("pipe");
        // The reader of the pipe exits after the first bytes.
        String line = "mkfifo " + pipe + "; head -c 10 " + pipe + " >/dev/null & \"$@\"";
        List<String> served = new CopyOnWriteArrayList<>();
        try (ToolProcess server = ToolTestSupport.process("rping -s -d" + address, served)) {
            ToolTestSupport.await(served, "rdma_listen");
            assertThat(shell(line, "rping -c -C 100 --json --pcap " + pipe + address))
                    .isEqualTo(1);
            assertThat(server.await(LIMIT_SECONDS)).isNotNegative();
        }
        assertThat(err).anyMatch(text -> text.startsWith("rdma4j: packet capture " + pipe));
        assertThat(String.join("\n", out))
                .containsPattern("\"status\": 1,\n  \"reason\": \".*write packet capture " + pipe
                        + ": Broken pipe; [0-9]+ packets are missing from it");
    }
}
