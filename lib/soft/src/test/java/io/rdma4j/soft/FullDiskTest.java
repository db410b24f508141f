package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A WRITE to a page of a mapped file fails if the disk has no room for the page, and nothing else fails. */
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class FullDiskTest {
    /** Mounts a file system of 256 KiB on the folder that is the first argument, in a mount namespace, and runs the others there. */
    private static final String WITH_SMALL_DISK = "mount -t tmpfs -o size=256k none \"$0\" && exec \"$@\"";

    @TempDir
    Path folder;

    @Test
    void writeToAFullDiskFailsWithARemoteAccessError() throws IOException, InterruptedException {
        List<String> inNamespace = List.of("unshare", "-rm", "sh", "-c", WITH_SMALL_DISK, folder.toString());
        try (ChildProcess process = new ChildProcess(
                inNamespace, FullDiskProcess.class, List.of("-XX:TieredStopAtLevel=4"), folder.toString())) {
            String[] first = process.expect("");
            Assumptions.assumeTrue(first[0].equals("begin"), "no file system can be mounted here: " + first[0]);
            assertThat(first[1]).isEqualTo("SUCCESS");
            assertThat(process.expect("full")).containsExactly("REMOTE_ACCESS_ERROR");
            assertThat(process.expect("other")).containsExactly("SUCCESS", "0");
        }
    }
}
