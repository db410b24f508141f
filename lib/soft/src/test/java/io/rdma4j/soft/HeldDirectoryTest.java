package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Programs that remove old files skip the run directory of a process that uses RDMA. */
@Timeout(60)
class HeldDirectoryTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    /** Like {@code systemd-tmpfiles}, which skips a directory that it cannot lock. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void cleanerSkipsTheDirectoryOfARunningProcess() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/flock")), "needs flock");
        Path run = folder.resolve("run");
        List<String> lock = List.of("/usr/bin/flock", "-n", "-x", run.toString(), "true");
        List<String> options = List.of("-Drdma4j.run.dir=" + run, "-Drdma4j.link=linux");
        try (ChildProcess process = new ChildProcess(
                ListeningProcess.class, options, TestAddresses.loopback().getHostAddress(), "7")) {
            process.expect("listen done");
            assertThat(new ProcessBuilder(lock).start().waitFor()).isEqualTo(1);
            process.kill();
        }
        assertThat(new ProcessBuilder(lock).start().waitFor()).isZero();
    }
}
