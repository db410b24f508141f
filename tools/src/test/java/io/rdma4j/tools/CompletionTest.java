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

/** Tests the bash completion of command lines. */
@EnabledOnOs({OS.LINUX, OS.MAC})
class CompletionTest {
    private static final Path SCRIPT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent()).resolve("docs/completion/rdma4j.bash");

    @TempDir
    Path folder = Path.of("");

    /** Returns the completions of the last word. */
    private List<String> completions(String... words) throws IOException, InterruptedException {
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
    void fileNamesWithBlanksAreNotSplit() throws Exception {
        Files.createFile(folder.resolve("my file"));
        assertThat(completions("rcopy", "my")).containsExactly("my file");
        assertThat(completions("rdma4j", "rping", "--pcap", "my")).containsExactly("my file");
        assertThat(completions("rping", "--pcap", "=", "my")).containsExactly("my file");
    }

    @Test
    void toolMayFollowCommonOptions() throws Exception {
        assertThat(completions("rdma4j", "--json", "rpi")).containsExactly("rping");
        assertThat(completions("rdma4j", "--pcap", "x", "--trace", "rpi")).containsExactly("rping");
        assertThat(completions("rdma4j", "--device", "soft", "rping", "-V")).containsExactly("-V");
        assertThat(completions("rdma4j", "--js")).containsExactly("--json");
    }

    @Test
    void optionsAreCompletedAsTheToolInterpretsThem() throws Exception {
        assertThat(completions("ib_send_bw", "-a", "--report_g")).containsExactly("--report_gbits");
        assertThat(completions("ib_send_bw", "-f", "")).containsExactly("");
        assertThat(completions("ucmatose", "-f", "n")).containsExactly("name");
    }

    @Test
    void commandOfRunIsCompleted() throws Exception {
        assertThat(completions("rdma4j", "run", "--pr")).containsExactly("--print");
        assertThat(completions("rdma4j", "run", "--trace", "--every")).containsExactly("--every-jvm");
        assertThat(completions("rdma4j", "run", "--rules", "*=ei")).containsExactly("*=either");
        assertThat(completions("rdma4j", "run", "--", "mkfif")).contains("mkfifo");
        Files.createFile(folder.resolve("program.jar"));
        assertThat(completions("rdma4j", "run", "--rules", "*=tcp", "java", "-jar", "pro"))
                .containsExactly("program.jar");
    }
}
