package io.rdma4j.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Only directories of network namespaces that are no longer in use are removed. */
@Timeout(60)
class LeftoversTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path parent;

    private Path directory(String name, String... files) throws IOException {
        Path created = Files.createDirectory(
                parent.resolve(name),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        for (String file : files) {
            Files.createFile(created.resolve(file));
        }
        return created;
    }

    private static String claim(ChildProcess by) throws IOException, InterruptedException {
        by.expect("= slot");
        by.send("claim 10.0.0.1 true false 7");
        return by.expect("= ")[0];
    }

    @Test
    void directoryOfAnUnusedNamespaceIsRemoved() throws IOException {
        Path current = directory("4026531840", "slots");
        Path dead = directory("4026531841", "slots", "ports-0106-01", "10.0.0.1.sock");
        Leftovers.remove(current);
        assertThat(dead).doesNotExist();
        assertThat(current.resolve("slots")).exists();
    }

    @Test
    void otherFilesAndDirectoriesStay() throws IOException {
        Path current = directory("4026531840", "slots");
        Path other = directory("others", "slots");
        Path unclaimed = directory("4026531841"); // a process may be about to claim its slot
        Path target = Files.createDirectory(parent.resolve("target"));
        Files.createFile(target.resolve("slots"));
        Files.createSymbolicLink(parent.resolve("4026531842"), target);
        Path deep = directory("4026531843", "slots");
        Files.createDirectory(deep.resolve("of-somebody"));
        Leftovers.remove(current);
        assertThat(List.of(other.resolve("slots"), unclaimed, target.resolve("slots"), deep.resolve("of-somebody")))
                .allSatisfy(path -> assertThat(path).exists());
    }

    @Test
    void directoryOfARunningProcessStaysUntilItExits() throws IOException, InterruptedException {
        Path current = directory("4026531840");
        Path used = directory("4026531841");
        try (ChildProcess process = new ChildProcess(ClaimProcess.class, List.of(), used.toString())) {
            assertThat(claim(process)).isEqualTo("ok");
            Leftovers.remove(current);
            assertThat(used).isNotEmptyDirectory();
            process.kill();
        }
        Leftovers.remove(current);
        assertThat(used).doesNotExist();
    }

    @Test
    void directoryThatThisProcessUsesByAnotherNameStays() throws Exception {
        Path current = directory("4026531840");
        Path used = directory("4026531841");
        Slots slot = Slots.claim(RunDirectory.at(used), new Random(1));
        Leftovers.remove(current);
        assertThat(used).isNotEmptyDirectory();
        slot.close();
    }

    @Test
    void slotIsClaimedInTheCurrentFileAlthoughTheDirectoryWasRemoved() throws Exception {
        RunDirectory run = RunDirectory.at(directory("4026531841"));
        Slots.claim(run, new Random(1)).close();
        Leftovers.removeUnused(run.path()); // as by another process, which has seen that no process has a slot
        assertThat(run.path()).doesNotExist();
        Slots slot = Slots.claim(run, new Random(1));
        try (FileChannel file = FileChannel.open(run.file("slots"), StandardOpenOption.WRITE)) {
            assertThatThrownBy(() -> file.tryLock(slot.number(), 1, false))
                    .isInstanceOf(OverlappingFileLockException.class);
        }
    }
}
