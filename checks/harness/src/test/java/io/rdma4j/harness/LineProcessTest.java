package io.rdma4j.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Lines that a check and a process exchange, and the end of the process. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class LineProcessTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static LineProcess start(String script) throws IOException {
        return new LineProcess(
                "the program",
                List.of("sh", "-c", script),
                Map.of("GREETING", "hello"),
                ProcessBuilder.Redirect.DISCARD);
    }

    @Test
    void aProcessAnswersLinesAndOthersAreDiscarded() throws Exception {
        try (LineProcess process = start("read name; echo noise; echo \"$GREETING $name\"; cat")) {
            process.sendLine("world");
            assertThat(process.awaitLine("hello ", LIMIT)).isEqualTo("world");
            process.sendLine("more");
            assertThat(process.pollLine(LIMIT)).contains("more");
            assertThat(process.pollLine(Duration.ofMillis(10))).isEmpty();
            assertThatIOException()
                    .isThrownBy(() -> process.awaitLine("nothing", Duration.ofMillis(10)))
                    .withMessage("the program did not print \"nothing\" within 0 s");
        }
    }

    @Test
    void endOfTheProcessIsReportedEachTimeAfterItsLastLine() throws Exception {
        try (LineProcess process = start("echo last; exit 3")) {
            assertThat(process.awaitEnd(LIMIT)).isEqualTo(3);
            assertThat(process.pollLine(LIMIT)).contains("last");
            for (int i = 0; i < 2; i++) {
                assertThatIOException()
                        .isThrownBy(() -> process.pollLine(LIMIT))
                        .withMessage("the program has exited early");
            }
        }
    }

    @Test
    void processRunsUntilItIsClosed() throws Exception {
        LineProcess process = start("exec sleep 300");
        assertThatIOException()
                .isThrownBy(() -> process.awaitEnd(Duration.ofMillis(10)))
                .withMessage("the program did not exit within PT0.01S");
        ProcessHandle handle = ProcessHandle.of(process.pid()).orElseThrow();
        process.close();
        assertThat(handle.isAlive()).isFalse();
    }
}
