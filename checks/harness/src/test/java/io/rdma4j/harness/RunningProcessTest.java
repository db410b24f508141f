package io.rdma4j.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Processes of a case: their output, their end, and the processes that they start. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class RunningProcessTest {
    @TempDir
    Path folder = Path.of("");

    private RunningProcess start(String script) throws Exception {
        return new Stage(folder, Duration.ofSeconds(30)).start("program", List.of(), List.of("sh", "-c", script));
    }

    @Test
    void statusAndLinesAreExpected() throws Exception {
        RunningProcess ended = start("echo ping 1; echo ping 2; exit 7");
        assertThatExceptionOfType(CaseFailure.class)
                .isThrownBy(ended::requireSuccess)
                .withMessage("the program ended with 7");
        ended.requireStatus(7).requireLines(2, "^ping [0-9]$");
        assertThatExceptionOfType(CaseFailure.class)
                .isThrownBy(() -> ended.requireLines(3, "ping"))
                .withMessage("the program prints 2 lines of 'ping' instead of 3");
        assertThat(ended.prints("ping 2")).isTrue();
        assertThat(ended.complains("ping")).isFalse();
    }

    @Test
    void processThatExceedsItsLimitDoesNotEnd() throws Exception {
        RunningProcess slow =
                new Stage(folder, Duration.ofSeconds(1)).start("program", List.of(), List.of("sleep", "30"));
        assertThatExceptionOfType(CaseFailure.class)
                .isThrownBy(slow::requireEnd)
                .withMessage("the program does not end");
        assertThat(slow.status()).isEqualTo(RunningProcess.EXCEEDED);
    }

    @Test
    void signalsReachTheProgramItself() throws Exception {
        RunningProcess program = start("echo ready; exec sleep 300");
        Stage.await(Duration.ofSeconds(10), () -> program.prints("ready"), "it does not start");
        program.signal("TERM");
        program.requireStatus(143);
    }

    @Test
    void endOfAProcessEndsThoseThatItHasStarted() throws Exception {
        RunningProcess parent = start("sleep 300 & echo $!; wait");
        Stage.await(Duration.ofSeconds(10), () -> parent.prints("^[0-9]+$"), "it does not start");
        long child = Long.parseLong(parent.out().strip());
        parent.end("KILL");
        Stage.await(
                Duration.ofSeconds(10),
                () -> ProcessHandle.of(child).map(handle -> !handle.isAlive()).orElse(true),
                "the child runs on");
        parent.end("KILL"); // has no effect
    }

    @Test
    void waitThatIsNotFulfilledHasItsReason() {
        assertThatExceptionOfType(CaseFailure.class)
                .isThrownBy(() -> Stage.await(Duration.ofMillis(100), () -> false, "nothing happens"))
                .withMessage("nothing happens");
    }
}
