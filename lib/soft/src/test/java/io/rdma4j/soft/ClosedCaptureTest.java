package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A capture that is closed before its process exits. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class ClosedCaptureTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @Test
    void captureCanBeClosedBeforeTheProcessExits() throws IOException, InterruptedException {
        Path file = folder.resolve("capture.pcapng");
        List<String> options = List.of("-Drdma4j.pcap=" + file, "-Drdma4j.run.dir=" + folder.resolve("run"));
        try (ChildProcess process = new ChildProcess(ClosedCaptureProcess.class, options, file.toString())) {
            assertThat(String.join(" ", process.expect("connected"))).isEqualTo("ECONNREFUSED");
            assertThat(String.join(" ", process.expect("closed"))).isEqualTo("well");
            assertThat(String.join(" ", process.expect("open"))).isEqualTo("0");
            assertThat(String.join(" ", process.expect("connected"))).isEqualTo("ECONNREFUSED");
            assertThat(String.join(" ", process.expect("closed"))).isEqualTo("well");
        }
        assertThat(file).isNotEmptyFile();
    }
}
