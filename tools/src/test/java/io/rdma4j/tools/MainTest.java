package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... words) {
        return Main.run(
                List.of(words),
                new ToolEnvironment(
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @CsvSource({"rpnig, rping", "ping, rping", "dmeo, demo", "rping1, rping"})
    void unknownToolIsAnsweredWithTheNearest(String typed, String meant) {
        assertThat(run(typed)).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("there is no tool '" + typed + "'; did you mean '" + meant + "'?");
    }

    @Test
    void helpOfEveryToolEndsWithZero() {
        for (Tool tool : Main.tools()) {
            out.reset();
            assertThat(run(tool.name(), "--help")).as(tool.name()).isZero();
            assertThat(out.toString(StandardCharsets.UTF_8)).as(tool.name()).contains(tool.name());
        }
    }

    @Test
    void helpOfTheLauncherListsEveryToolWithItsSummary() throws IOException {
        String launcher = Files.readString(Path.of("..", "rdma4j"));
        for (Tool tool : Main.tools()) {
            assertThat(launcher).contains("  %-15s %s\n".formatted(tool.name(), tool.summary()));
        }
    }

    @Test
    void everyToolHasALinkACompletionAndToolsOfCAManPage() throws IOException {
        String completion = Files.readString(Path.of("..", "docs", "completion", "rdma4j.bash"));
        for (Tool tool : Main.tools()) {
            assertThat(completion).containsPattern("[ (|]" + tool.name() + "[ )|]");
            if (!Set.of("demo", "doctor", "sim").contains(tool.name())) {
                assertThat(Path.of("..", "bin", tool.name())).exists();
                assertThat(Path.of("..", "docs", "man", tool.name() + ".1")).isNotEmptyFile();
            }
        }
    }
}
