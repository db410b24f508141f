package io.rdma4j.soft.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.host.RunDirectories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The thread that sends reports. */
@Timeout(30)
@EnabledOnOs(OS.LINUX)
class ReportServerTest {
    private static final StackReport REPORT = new StackReport(4711, "org.example.Server", 7, List.of(), List.of(), 0);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @Test
    void theNextReportIsSentAfterAnError() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        AtomicBoolean hasFailed = new AtomicBoolean();
        RunDirectory directory = RunDirectories.at(folder);
        try (ReportServer server = ReportServer.start(directory, 7, () -> {
            if (hasFailed.compareAndSet(false, true)) {
                throw new OutOfMemoryError("on purpose");
            }
            return REPORT;
        })) {
            assertThat(server).isNotNull();
            Path socket = directory.file(ReportSockets.name(7));
            assertThat(FullHeapReaderProcess.read(socket)).isEmpty();
            assertThat(StackReport.decode(FullHeapReaderProcess.read(socket))).isEqualTo(REPORT);
        }
    }

    /** The native code of Java's {@code accept} would end it. */
    @Test
    void requestsForReportsDoNotEndAProcessWithAFullHeap() throws IOException, InterruptedException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        Path socket = RunDirectories.at(folder).file(ReportSockets.name(FullHeapReaderProcess.SLOT));
        try (ChildProcess process =
                new ChildProcess(FullHeapReaderProcess.class, List.of("-Xmx16m"), folder.toString())) {
            process.expect("full");
            for (int i = 0; i < 10; i++) {
                byte[] _ = FullHeapReaderProcess.read(socket);
            }
            process.expect("empty");
            assertThat(StackReport.decode(FullHeapReaderProcess.read(socket))).isEqualTo(FullHeapReaderProcess.REPORT);
        }
    }
}
