package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A shared thread continues although there is no memory to handle a fault, not even for the constant texts of its report. */
@Timeout(60)
class FullHeapTest {
    @Test
    void sharedThreadContinuesWhenItCannotHandleAFault() throws IOException, InterruptedException {
        try (ChildProcess process = new ChildProcess(FullHeapProcess.class, List.of("-Xmx16m"))) {
            assertThat(process.expect("=")).containsExactly("2");
        }
    }
}
