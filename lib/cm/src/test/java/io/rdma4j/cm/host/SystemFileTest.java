package io.rdma4j.cm.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class SystemFileTest {
    /** Reads a file like a program with a buffer. */
    private static String buffered(Path file) throws IOException {
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            return reader.readLine();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void numbersOfProcAreComplete() throws IOException {
        Path maximum = Path.of("/proc/sys/kernel/pid_max"); // at least 301, so it has several digits
        assertThat(SystemFile.read(maximum)).isEqualTo(buffered(maximum)).hasSizeGreaterThanOrEqualTo(3);
        Path range = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
        assertThat(SystemFile.read(range).split("\\s+")).hasSize(2);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void filesOfSeveralPagesAreComplete() throws IOException {
        assertThat(SystemFile.read(Path.of("/proc/self/smaps"))).hasSizeGreaterThan(3 * 4096);
    }

    @Test
    void whiteSpaceAtTheEndsIsRemoved(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "\t12 34\n");
        assertThat(SystemFile.read(file)).isEqualTo("12 34");
    }
}
