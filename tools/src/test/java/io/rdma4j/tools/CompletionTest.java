package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What bash offers for command lines. */
@EnabledOnOs({OS.LINUX, OS.MAC})
class CompletionTest {
    private static final Path SCRIPT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent()).resolve("docs/completion/rdma4j.bash");

    @TempDir
    Path folder = Path.of("");

    /** The offers for the last word. */
    private List<String> offers(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                "bash",
                "-c",
                ". \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _rdma4j; printf '%s\\n"
                        + "' \"${COMPREPLY[@]}\"",
                "bash",
                SCRIPT.toString()));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor()).isZero();
        return lines;
    }

    @Test
    void fileNamesWithBlanksStayWhole() throws Exception {
        Files.createFile(folder.resolve("my file"));
        assertThat(offers("rcopy", "my")).containsExactly("my file");
        assertThat(offers("rdma4j", "rping", "--pcap", "my")).containsExactly("my file");
        assertThat(offers("rping", "--pcap", "=", "my")).containsExactly("my file");
    }

    @Test
    void toolMayFollowOptionsOfEveryTool() throws Exception {
        assertThat(offers("rdma4j", "--json", "rpi")).containsExactly("rping");
        assertThat(offers("rdma4j", "--pcap", "x", "--trace", "rpi")).containsExactly("rping");
        assertThat(offers("rdma4j", "--device", "soft", "rping", "-V")).containsExactly("-V");
        assertThat(offers("rdma4j", "--js")).containsExactly("--json");
    }

    @Test
    void optionsMeanWhatTheyMeanToTheTool() throws Exception {
        assertThat(offers("ib_send_bw", "-a", "--report_g")).containsExactly("--report_gbits");
        assertThat(offers("ib_send_bw", "-f", "")).containsExactly("");
        assertThat(offers("ucmatose", "-f", "n")).containsExactly("name");
    }
}
