package io.rdma4j.soft;

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
}
