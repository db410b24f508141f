package io.rdma4j.soft.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.soft.sharing.RunDirectory;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
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
        RunDirectory directory = RunDirectory.at(folder);
        try (ReportServer server = ReportServer.start(directory, 7, () -> {
            if (hasFailed.compareAndSet(false, true)) {
                throw new OutOfMemoryError("on purpose");
            }
            return REPORT;
        })) {
            assertThat(server).isNotNull();
            Path socket = directory.file(ReportSockets.name(7));
            assertThat(read(socket)).isEmpty();
            assertThat(StackReport.decode(read(socket))).isEqualTo(REPORT);
        }
    }

    private static byte[] read(Path socket) throws IOException {
        try (SocketChannel reader = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return Channels.newInputStream(reader).readAllBytes();
        }
    }
}
