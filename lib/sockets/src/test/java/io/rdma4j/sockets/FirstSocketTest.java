package io.rdma4j.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The first socket of a process may fail for a temporary reason; later sockets work after the reason is removed. */
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class FirstSocketTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    /** Runs {@link FirstSocketProcess} and returns its output. */
    private List<String> run(List<String> prefix, String rule, Path runDirectory, String what)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-D" + AddressRules.PROPERTY + "=" + rule,
                "-Drdma4j.run.dir=" + runDirectory,
                "-cp",
                TestClassPath.of(FirstSocketProcess.class),
                FirstSocketProcess.class.getName(),
                what));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), UTF_8);
            int _ = process.waitFor();
            return output.lines().toList();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void socketsWorkOnceAnInterfaceIsUp() throws IOException, InterruptedException {
        List<String> said = run(List.of("unshare", "-rn"), "*=rdma", folder.resolve("run"), "interface");
        assumeTrue(
                !said.isEmpty() && said.getFirst().startsWith("first"),
                "no network namespace can be made here: " + said);
        said = said.stream()
                .filter(line -> line.matches("(first|second|up|then) .*"))
                .toList(); // no log
        assertThat(said.get(0)).startsWith("first IOException").contains("ENODEV");
        assertThat(said.get(1)).startsWith("second IOException").contains("ENODEV");
        assertThat(said.get(2)).isEqualTo("up 0");
        assertThat(said.get(3)).startsWith("then IOException").contains("refused");
    }

    @Test
    void eitherFallsBackToTcpIfTheDeviceDoesNotStart() throws IOException, InterruptedException {
        Path file = Files.createFile(folder.resolve("file"));
        List<String> said = run(List.of(), "127.0.0.0/8=either", file, "device");
        assertThat(said).endsWith("first connected", "second connected");
        assertThat(said)
                .filteredOn(line -> line.startsWith("INFO: Connecting to"))
                .hasSize(1);
    }
}
