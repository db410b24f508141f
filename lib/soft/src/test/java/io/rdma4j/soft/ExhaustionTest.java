package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The errors that an application gets when system resources are exhausted. */
@Timeout(60)
class ExhaustionTest {
    private static final List<String> FEW_DESCRIPTORS = List.of("sh", "-c", "ulimit -n 64; exec \"$@\"", "sh");

    @Test
    @EnabledOnOs(OS.LINUX)
    void lackOfDescriptorsIsReportedAndTransient(@TempDir Path folder) throws IOException, InterruptedException {
        Path file = Files.createFile(folder.resolve("file"));
        try (ChildProcess process =
                new ChildProcess(FEW_DESCRIPTORS, StarvedProcess.class, List.of(), file.toString())) {
            process.expect("begin EIO");
            process.expect("list done");
            process.expect("create done");
            process.expect("list EMFILE");
            process.expect("create EMFILE");
            process.expect("list done");
            process.expect("create done");
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void deviceKeepsItsAddressesAndMtuWithoutDescriptors(@TempDir Path folder)
            throws IOException, InterruptedException {
        Path file = Files.createFile(folder.resolve("file"));
        try (ChildProcess process = new ChildProcess(
                FEW_DESCRIPTORS, ScarceProcess.class, List.of("-XX:-MaxFDLimit"), file.toString(), "127.0.0.1")) {
            process.expect("before");
            for (int free = 0; free < 4; free++) {
                process.send(String.valueOf(free));
                assertThat(process.expect("with " + free))
                        .as("%d free descriptors", free)
                        .containsExactly("same");
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void ownerWithoutDescriptorsRefusesOtherProcessesWithTheReason(@TempDir Path folder)
            throws IOException, InterruptedException {
        Path file = Files.createFile(folder.resolve("file"));
        String address = TestAddresses.loopback().getHostAddress();
        List<String> options = List.of("-XX:-MaxFDLimit", "-Drdma4j.run.dir=" + folder.resolve("run"));
        try (ChildProcess owner =
                new ChildProcess(FEW_DESCRIPTORS, ScarceProcess.class, options, file.toString(), address)) {
            owner.expect("before");
            owner.send("listen");
            owner.expect("listen done");
            owner.expect("full");
            try (ChildProcess other = new ChildProcess(ListeningProcess.class, options, address, "8")) {
                assertThat(String.join(" ", other.expect("listen")))
                        .startsWith("EAGAIN")
                        .contains("has no free file descriptor");
            }
            owner.send("state");
            owner.expect("has same");
            try (ChildProcess other = new ChildProcess(ListeningProcess.class, options, address, "8")) {
                other.expect("listen done");
            }
        }
    }
}
