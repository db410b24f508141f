package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A software device that fails to start reports the reason, leaks nothing, and starts after the cause was removed. */
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class FailedStartTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    /** Starts with an invalid option, which is corrected after the first attempts. */
    private void failsAndThenStarts(String property, String wrong, String right, String errno, String message)
            throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(List.of("-D" + property + "=" + wrong));
        if (!property.equals("rdma4j.run.dir")) {
            options.add("-Drdma4j.run.dir=" + folder.resolve("run"));
        }
        try (ChildProcess process = new ChildProcess(FailedStartProcess.class, options, property + "=" + right)) {
            assertThat(String.join(" ", process.expect("first")))
                    .startsWith(errno)
                    .contains(message);
            assertThat(String.join(" ", process.expect("left")))
                    .as("descriptors")
                    .isEqualTo("0");
            assertThat(String.join(" ", process.expect("then"))).isEqualTo("bound");
        }
    }

    @Test
    void runDirectoryThatIsAFile() throws IOException, InterruptedException {
        Path file = Files.createFile(folder.resolve("file"));
        failsAndThenStarts(
                "rdma4j.run.dir", file.toString(), folder.resolve("run").toString(), "EACCES", "not a directory");
    }

    @Test
    void runDirectoryThatOthersMayEnter() throws IOException, InterruptedException {
        Path open = Files.createDirectory(folder.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        failsAndThenStarts(
                "rdma4j.run.dir",
                open.toString(),
                folder.resolve("run").toString(),
                "EACCES",
                "users other than its owner");
    }

    @Test
    void temporaryDirectoryThatIsNotWritable() throws IOException, InterruptedException {
        List<String> options = List.of("-Djava.io.tmpdir=/proc"); // nothing can be created there
        String right = "java.io.tmpdir=" + folder;
        try (ChildProcess process =
                new ChildProcess(List.of("env", "-u", "XDG_RUNTIME_DIR"), FailedStartProcess.class, options, right)) {
            assertThat(String.join(" ", process.expect("first")))
                    .startsWith("EACCES")
                    .contains("run directory");
            assertThat(String.join(" ", process.expect("left")))
                    .as("descriptors")
                    .isEqualTo("0");
            assertThat(String.join(" ", process.expect("then"))).isEqualTo("bound");
        }
    }

    @Test
    void captureThatCannotBeWritten() throws IOException, InterruptedException {
        failsAndThenStarts("rdma4j.pcap", "/dev/full", "", "EIO", "/dev/full");
    }

    @Test
    void captureIsClosedIfTheDeviceDoesNotStart() throws IOException, InterruptedException {
        Path file = Files.createFile(folder.resolve("file"));
        try (ChildProcess process = new ChildProcess(
                FailedStartProcess.class,
                List.of("-Drdma4j.pcap=" + folder.resolve("capture"), "-Drdma4j.run.dir=" + file),
                "rdma4j.run.dir=" + folder.resolve("run"))) {
            assertThat(String.join(" ", process.expect("first"))).startsWith("EACCES");
            assertThat(String.join(" ", process.expect("left")))
                    .as("descriptors")
                    .isEqualTo("0");
            assertThat(String.join(" ", process.expect("then"))).isEqualTo("bound");
        }
    }

    @Test
    void invalidFaults() throws IOException, InterruptedException {
        failsAndThenStarts("rdma4j.fault", "nonsense", "", "EINVAL", "system property rdma4j.fault");
    }

    @Test
    void invalidLinks() throws IOException, InterruptedException {
        failsAndThenStarts("rdma4j.link", "nonsense", "nio", "EINVAL", "system property rdma4j.link");
    }

    @Test
    void invalidSecurityOptions() throws IOException, InterruptedException {
        failsAndThenStarts("rdma4j.security", "nonsense", "", "EINVAL", "system property rdma4j.security");
    }

    @Test
    void everySlotTaken() throws IOException, InterruptedException {
        Path run = Files.createDirectory(
                folder.resolve("full"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        try (RandomAccessFile slots = new RandomAccessFile(run.resolve("slots").toFile(), "rw");
                FileLock all = slots.getChannel().lock(1, 254, false)) {
            assertThat(all.isValid()).isTrue();
            failsAndThenStarts(
                    "rdma4j.run.dir", run.toString(), folder.resolve("run").toString(), "EAGAIN", "254 processes");
        }
    }
}
