package io.rdma4j.soft;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * When a process exits, none of its engines' threads is in a system call, for which the Java virtual machine would wait
 * 0.3 s.
 */
@Timeout(60)
class EndOfProcessTest {
    @ParameterizedTest
    @CsvSource({"waits,linux", "waits,nio", "rests,linux", "rests,nio"})
    @EnabledOnOs(OS.LINUX)
    void noThreadBlocksInTheKernelWhileTheProcessExits(String what, String links)
            throws IOException, InterruptedException {
        String address = TestAddresses.loopback().getHostAddress();
        try (ChildProcess process =
                new ChildProcess(EndingProcess.class, List.of("-Drdma4j.link=" + links), address, what)) {
            process.expect("idle");
            Thread.sleep(200); // long enough for the leader to block in the kernel
            process.endInput();
            process.expect("nobody in the kernel");
            process.expect("END");
        }
    }
}
