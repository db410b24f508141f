package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.fixture.ChildProcess;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.sharing.SharingException;
import io.rdma4j.sharing.Slots;
import io.rdma4j.soft.host.RunDirectories;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The slots that distinguish the processes of a user. */
@Timeout(120)
class SlotsTest {
    private static final int SLOTS = 254;
    private static final int COLLECTIONS = 20;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @Test
    void unreachableObjectsOfAFailedStartDoNotReleaseTheSlot() throws Exception {
        RunDirectory directory = RunDirectories.at(folder.resolve("run"));
        List<Slots> held = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            held.add(Slots.claim(directory, new Random(i)));
        }
        assertThatThrownBy(() -> Slots.claim(directory, new Random(1)))
                .isInstanceOfSatisfying(
                        SharingException.class,
                        e -> assertThat(e.reason()).isEqualTo(SharingException.Reason.EXHAUSTED));
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            Thread.sleep(20); // another thread closes collected objects
        }
        try (ChildProcess process =
                new ChildProcess(FailedStartProcess.class, List.of("-Drdma4j.run.dir=" + directory.path()))) {
            assertThat(String.join(" ", process.expect("first"))).startsWith("EAGAIN");
        }
        assertThat(held).hasSize(SLOTS);
    }

    @Test
    void releasedSlotCanBeClaimedAgain() throws SharingException {
        RunDirectory directory = RunDirectories.at(folder.resolve("run"));
        for (int i = 0; i < 2 * SLOTS; i++) {
            Slots.claim(directory, new Random(i)).close();
        }
    }
}
