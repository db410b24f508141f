package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.fixture.ChildProcess;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.host.RunDirectories;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Other users have created the run directory first, or may replace it. Most of these tests need root, to act as two
 * users.
 */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class HostileRunDirectoryTest {
    private static final int OTHER_USER = 65534;
    private static final int STICKY = 01000;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @SuppressWarnings("NullAway.Init")
    private Path parent;

    @BeforeEach
    void makeParent() throws IOException {
        parent = Files.createDirectory(folder.resolve("parent"));
    }

    private static void requireRoot() throws IOException {
        assumeTrue(Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid")), "needs root");
    }

    private static void rights(Path path, int mode) throws IOException {
        Files.setAttribute(path, "unix:mode", mode);
    }

    private static void refused(Path path, String why) {
        assertThatThrownBy(() -> RunDirectories.at(path)).isInstanceOfSatisfying(RdmaException.class, e -> {
            assertThat(e.errno()).isEqualTo(Errno.EACCES);
            assertThat(e).hasMessageContaining(why);
        });
    }

    @Test
    void directoryBelowOneOfAnotherUserIsRefusedAndNothingIsCreatedThere() throws IOException {
        requireRoot();
        rights(parent, 0755);
        Files.setAttribute(parent, "unix:uid", OTHER_USER);
        refused(parent.resolve("run"), parent + " belongs to user");
        refused(parent.resolve("more").resolve("run"), parent + " belongs to user");
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void directoryThatAnotherUserCanMoveIsRefused() throws IOException {
        requireRoot();
        Path run = RunDirectories.at(parent.resolve("run")).path();
        Files.setAttribute(parent, "unix:uid", OTHER_USER);
        refused(run, parent + " belongs to user");
        refused(run.resolve("below"), parent + " belongs to user");
    }

    @Test
    void directoryThatOthersMayWriteIsRefusedUnlessItIsSticky() throws IOException {
        rights(parent, 0777);
        refused(parent.resolve("run"), "other users may write to " + parent);
        assertThat(parent).isEmptyDirectory();
        rights(parent, 0777 | STICKY);
        assertThat(RunDirectories.at(parent.resolve("run")).path()).isDirectory();
    }

    @Test
    void symbolicLinkOfAnotherUserIsRefused() throws IOException {
        requireRoot();
        Path target = Files.createDirectory(
                folder.resolve("target"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        rights(parent, 0777 | STICKY);
        Path link = Files.createSymbolicLink(parent.resolve("link"), target);
        int status = new ProcessBuilder("chown", "-h", String.valueOf(OTHER_USER), link.toString())
                .inheritIO()
                .start()
                .onExit()
                .join()
                .exitValue();
        assertThat(status).isZero();
        refused(link.resolve("run"), link + " belongs to user");
        assertThat(target).isEmptyDirectory();
    }

    @Test
    void symbolicLinkThatNoOtherUserCanChangeIsFollowed() throws IOException {
        Path target = Files.createDirectory(folder.resolve("target"));
        Path link = Files.createSymbolicLink(parent.resolve("link"), Path.of("..", "target"));
        assertThat(RunDirectories.at(link.resolve("run")).path()).isDirectory();
        assertThat(target.resolve("run")).isDirectory();
        Path loop = Files.createSymbolicLink(parent.resolve("loop"), parent.resolve("loop"));
        refused(loop.resolve("run"), "symbolic links");
    }

    @Test
    void defaultDirectoryOfAnotherUserIsRefused() throws IOException, InterruptedException {
        requireRoot();
        rights(parent, 0777 | STICKY);
        Path first = Files.createDirectory(parent.resolve("rdma4j-0"));
        rights(first, 0777 | STICKY);
        Files.setAttribute(first, "unix:uid", OTHER_USER);
        try (ChildProcess process = new ChildProcess(
                List.of("env", "-u", "XDG_RUNTIME_DIR", "-u", RunDirectory.OVERRIDE),
                FailedStartProcess.class,
                List.of("-Djava.io.tmpdir=" + parent))) {
            assertThat(String.join(" ", process.expect("first")))
                    .startsWith("EACCES")
                    .contains("belongs to user");
        }
        assertThat(first).isEmptyDirectory();
    }

    @Test
    void runtimeDirectoryOfAnotherUserIsNotUsed() throws IOException, InterruptedException {
        requireRoot();
        Path runtime = Files.createDirectory(folder.resolve("runtime"));
        Files.setAttribute(runtime, "unix:uid", OTHER_USER);
        try (ChildProcess process = new ChildProcess(
                List.of("env", "-u", RunDirectory.OVERRIDE, "XDG_RUNTIME_DIR=" + runtime),
                FailedStartProcess.class,
                List.of("-Djava.io.tmpdir=" + parent))) {
            assertThat(String.join(" ", process.expect("first"))).isEqualTo("bound");
        }
        assertThat(runtime).isEmptyDirectory();
    }
}
