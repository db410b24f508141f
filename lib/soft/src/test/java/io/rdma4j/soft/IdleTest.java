package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A process with an idle connection uses no processor time. */
@Timeout(60)
class IdleTest {
    private static final int TICKS_PER_SECOND = 100;

    private static long ticks(ChildProcess process) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    @ParameterizedTest
    @CsvSource({"waits,linux", "waits,nio", "rests,linux", "rests,nio"})
    @EnabledOnOs(OS.LINUX)
    void idleProcessUsesNoProcessorTime(String what, String links) throws IOException, InterruptedException {
        String address = TestAddresses.loopback().getHostAddress();
        try (ChildProcess process =
                new ChildProcess(IdleProcess.class, List.of("-Drdma4j.link=" + links), address, what)) {
            process.expect("idle");
            Thread.sleep(500); // activities of the start end: timers of the connection, compilations
            long before = ticks(process);
            Thread.sleep(1500); // the time that is measured
            // Half a percent of a core would be less than one tick. Four ticks allow for a collector or compiler
            // thread.
            assertThat(ticks(process) - before).isLessThanOrEqualTo(4 * TICKS_PER_SECOND / 100);
        }
    }
}
