package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.TestClassPath;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** If the heap is full, no event and no memory of a connection is lost. */
@Timeout(60)
class FullHeapTest {
    private static void prints(String what, String... lines) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx24m",
                        "-cp",
                        TestClassPath.of(FullHeapTest.class),
                        FullHeapProcess.class.getName(),
                        what)
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(process.inputReader().lines()).containsSubsequence(lines).doesNotContain("lost");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void failureOfAConnectionIsNotLost() throws IOException {
        prints("events", "failed", "failed");
    }

    /** If closing needed memory, a second close would find the queue closed, and the connections would stay open. */
    @Test
    void queueIsClosedWithoutMemoryForACopy() throws IOException {
        prints("close", "CLOSED");
    }

    @Test
    void closedConnectionIsReleasedOnceThereIsMemoryForItsThread() throws IOException {
        prints("connection", "released", "released");
    }
}
