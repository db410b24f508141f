package io.rdma4j.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks between processes: a query does not lock, and the files survive programs that remove old files. */
@Timeout(60)
class SystemLockFileTest {
    private static final long AT = 77;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    private SystemLockFile open() throws IOException {
        return SystemLockFile.open(folder.resolve("locks"));
    }

    /** Checks that this process holds the byte in the file that is at the path now. */
    private void requireHeld(Path file) throws IOException {
        try (FileChannel other = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            assertThatThrownBy(() -> other.tryLock(AT, 1, false)).isInstanceOf(OverlappingFileLockException.class);
        }
    }

    @Test
    void stacksOfOneProcessShareASharedLockAndExcludeOthers() throws IOException {
        try (SystemLockFile one = open();
                SystemLockFile two = open()) {
            LockFile.ByteLock first = Objects.requireNonNull(one.tryLock(AT, true));
            LockFile.ByteLock second = Objects.requireNonNull(two.tryLock(AT, true));
            assertThat(two.tryLock(AT, false)).isNull();
            first.release();
            first.release();
            assertThat(two.isLockedElsewhere(AT)).isTrue();
            assertThat(two.tryLock(AT, false)).isNull();
            second.release();
            assertThat(one.isLockedElsewhere(AT)).isFalse();
            Objects.requireNonNull(two.tryLock(AT, false)).release();
        }
    }

    /** POSIX drops all locks that a process has on a file when the process closes any descriptor of that file. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void keepingTheFileLosesNoLock() throws IOException {
        Path path = folder.resolve("locks");
        try (SystemLockFile file = open()) {
            LockFile.ByteLock lock = Objects.requireNonNull(file.tryLock(AT, false));
            assertThat(locksInTheKernel(path)).isEqualTo(1);
            file.keep();
            assertThat(locksInTheKernel(path)).isEqualTo(1);
            assertThat(lock.isValid()).isTrue();
        }
    }

    /** The thread that keeps the file is interrupted when its stack ends, and the locks are those of all stacks of the process. */
    @Test
    void keepingTheFileInAnInterruptedThreadLosesNoLock() throws IOException {
        try (SystemLockFile file = open()) {
            LockFile.ByteLock lock = Objects.requireNonNull(file.tryLock(AT, false));
            Thread.currentThread().interrupt();
            file.keep();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(lock.isValid()).isTrue();
            assertThat(file.tryLock(AT + 1, false)).isNotNull();
        } finally {
            var _ = Thread.interrupted();
        }
    }

    private static long locksInTheKernel(Path file) throws IOException {
        String inode = ":" + Files.getAttribute(file, "unix:ino") + " ";
        String process = " " + ProcessHandle.current().pid() + " ";
        return new String(Files.newInputStream(Path.of("/proc/locks")).readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains(inode) && line.contains(process))
                .count();
    }

    @Test
    void removedFileIsCreatedAgainWithTheLocksOfThisProcess() throws IOException {
        Path path = folder.resolve("locks");
        try (SystemLockFile file = open()) {
            LockFile.ByteLock lock = Objects.requireNonNull(file.tryLock(AT, false));
            Files.delete(path);
            assertThat(file.isCurrent()).isFalse();
            file.keep();
            assertThat(file.isCurrent()).isTrue();
            requireHeld(path);
            assertThat(lock.isValid()).isTrue();
            lock.release();
        }
    }

    @Test
    void nextLockFindsThatTheFileWasRemoved() throws IOException {
        Path path = folder.resolve("locks");
        try (SystemLockFile file = open()) {
            LockFile.ByteLock lock = Objects.requireNonNull(file.tryLock(AT, true));
            Files.delete(path);
            LockFile.ByteLock other = Objects.requireNonNull(file.tryLock(AT + 1, true));
            requireHeld(path);
            lock.release();
            other.release();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"linux", "nio"})
    @EnabledOnOs(OS.LINUX)
    void onePortIsClaimedAtDifferentAddressesAtTheSameTime(String kind) throws Exception {
        List<String> options = List.of("-Drdma4j.link=" + kind);
        String run = folder.resolve("run").toString();
        try (ChildProcess one = new ChildProcess(ClaimProcess.class, options, run);
                ChildProcess two = new ChildProcess(ClaimProcess.class, options, run)) {
            one.expect("= slot");
            two.expect("= slot");
            one.send("race 127.0.0.1 7999");
            one.expect("= racing");
            two.send("race 127.0.0.2 7999");
            two.expect("= racing");
            Thread.sleep(3_000); // a longer time makes a failure more likely
            one.send("end");
            two.send("end");
            assertThat(one.expect("= failed")).containsExactly("0");
            assertThat(two.expect("= failed")).containsExactly("0");
        }
    }

    @Test
    void processThatRemovesUnusedDirectoriesIsWaitedFor() throws Exception {
        Path run = folder.resolve("run");
        RunDirectory directory = RunDirectory.at(run);
        try (FileChannel file = FileChannel.open(
                        directory.file(Slots.FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock all = file.lock();
                ChildProcess process = new ChildProcess(ClaimProcess.class, List.of(), run.toString())) {
            Thread.sleep(1_000); // about as long as the process takes to start
            all.release();
            process.expect("= slot");
        }
    }

    @Test
    void usedFilesDoNotLookOld() throws Exception {
        RunDirectory directory = RunDirectory.at(folder.resolve("run"));
        try (Sharing sharing = new Sharing(directory, new Random(1))) {
            FileTime old = FileTime.fromMillis(1_000_000_000_000L);
            for (Path each : List.of(directory.file(Slots.FILE), directory.fileOfNamespace(Slots.FILE))) {
                Files.setLastModifiedTime(each, old);
                sharing.keepFiles(System.nanoTime() + 60_000_000_000L * each.getNameCount());
                assertThat(Files.getLastModifiedTime(each)).isGreaterThan(old);
            }
        }
    }

    @Test
    void directoryThatWasRemovedIsCreatedAgain() throws Exception {
        RunDirectory directory = RunDirectory.at(folder.resolve("run"));
        try (Sharing sharing = new Sharing(directory, new Random(1))) {
            removeAll(directory.path());
            sharing.keepFiles(System.nanoTime());
            assertThat(directory.file(Slots.FILE)).exists();
            assertThat(directory.fileOfNamespace(Slots.FILE)).exists();
        }
    }

    private static void removeAll(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void networkNamespacesThatShareADirectoryClaimTheSamePort() throws Exception {
        String run = folder.resolve("run").toString();
        try (ChildProcess here = new ChildProcess(ClaimProcess.class, List.of(), run);
                ChildProcess there = new ChildProcess(List.of("unshare", "-rn"), ClaimProcess.class, List.of(), run)) {
            String first = String.join(" ", there.expect(""));
            Assumptions.assumeTrue(first.startsWith("= slot"), "no network namespace can be made here: " + first);
            String slot = String.join(" ", here.expect("= slot"));
            assertThat(first).as("slots are unique in the directory").isNotEqualTo("= slot " + slot);
            for (ChildProcess each : List.of(here, there)) {
                each.send("claim 0.0.0.0 true false 7");
                assertThat(each.expect("= ")).containsExactly("ok");
            }
            assertThat(partsOf(folder.resolve("run"))).isEqualTo(2);
            there.kill();
            RunDirectory _ = RunDirectory.at(folder.resolve("run"));
            assertThat(partsOf(folder.resolve("run")))
                    .as("the part of a namespace without processes is removed")
                    .isEqualTo(1);
        }
    }

    private static long partsOf(Path run) throws IOException {
        try (Stream<Path> files = Files.list(run)) {
            return files.filter(Files::isDirectory).count();
        }
    }
}
