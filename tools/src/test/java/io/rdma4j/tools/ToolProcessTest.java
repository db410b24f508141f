package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What comes out of the process of a tool, and where. */
@Timeout(120)
class ToolProcessTest {
    private static final long LIMIT_SECONDS = 60;

    private final List<String> out = new CopyOnWriteArrayList<>();
    private final List<String> err = new CopyOnWriteArrayList<>();

    @Test
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "SIGQUIT asks for the dump")
    void threadDumpIsNotOnStandardOutput() throws Exception {
        String address = Meeting.loopback();
        try (ToolProcess server = Meeting.process("rping -s -d -a " + address + Meeting.port(), out, err)) {
            Meeting.await(out, "rdma_listen");
            Process kill = new ProcessBuilder("kill", "-QUIT", String.valueOf(server.pid())).start();
            assertThat(kill.waitFor()).isZero();
            Meeting.await(err, "Full thread dump");
            server.terminate();
            server.await(LIMIT_SECONDS);
        }
        assertThat(err).anyMatch(line -> line.contains("Full thread dump"));
        assertThat(out).noneMatch(line -> line.contains("Full thread dump"));
    }

    @Test
    void warningsOfJavaAreNotOnStandardOutput() throws Exception {
        // Where there are none of these pages, as nearly everywhere, Java warns.
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
}
