package io.rdma4j.tools.manual;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests command-line completion: for bash by running bash, for zsh and fish by the texts of the scripts.
 * {@code dist/check} runs these in their shells.
 */
@EnabledOnOs({OS.LINUX, OS.MAC})
class CompletionTest {
    @TempDir
    Path folder = Path.of("");

    @BeforeEach
    void writeTheScript() throws IOException {
        Files.writeString(script(), BashCompletion.script(words()));
    }

    private Path script() {
        return folder.resolve("rdma4j.bash");
    }

    private static List<ToolWords> words() {
        return Main.tools().stream().map(ToolWords::of).toList();
    }

    /** Returns the completions of the last word. */
    private List<String> completions(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                "bash",
                "-c",
                ". \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _rdma4j; printf '%s\\n"
                        + "' \"${COMPREPLY[@]}\"",
                "bash",
                script().toString()));
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
    void everyToolIsCompleted() throws Exception {
        for (ToolWords tool : words()) {
            assertThat(completions("rdma4j", tool.name())).contains(tool.name());
        }
    }

    @Test
    void valuesAreCompletedWhereTheHelpTextListsThem() throws Exception {
        assertThat(completions("rdma4j", "rstream", "-T", "")).contains("sockets", "async", "verify");
        assertThat(completions("rdma4j", "ib_send_bw", "-c", "")).containsExactly("RC", "UC", "UD", "XRC");
        assertThat(completions("rdma4j", "completion", "")).containsExactly("bash", "zsh", "fish");
        assertThat(completions("rdma4j", "man", "rpi")).containsExactly("rping");
        assertThat(completions("rdma4j", "rping", "--device", "so")).containsExactly("soft");
        assertThat(completions("rdma4j", "run", "--device", "so")).containsExactly("soft");
    }

    @Test
    void zshAndFishGetEveryOptionWithItsDescription() {
        assertThat(ZshCompletion.script(words()))
                .contains("'rping:RDMA ping-pong", "'-S[ping data size]:size: '", "'--pcap=[write every packet")
                .contains("'-f[name, ip, ipv6, or gid]:address_format:(name ip ipv6 gid)'");
        assertThat(FishCompletion.script(words()))
                .contains("__fish_seen_subcommand_from rping' -s S -r -f -d 'ping data size'")
                .contains("__fish_seen_subcommand_from ib_send_bw' -s s -l size -r");
    }

    /** The common options do not apply to run, because its command has its own options. */
    @Test
    void optionsAndFilesOfRunAreCompleted() throws Exception {
        assertThat(completions("rdma4j", "run", "--every")).containsExactly("--every-jvm");
        assertThat(completions("rdma4j", "run", "--js")).containsExactly("");
        Files.createFile(folder.resolve("program.jar"));
        assertThat(completions("rdma4j", "run", "--", "java", "-jar", "pro")).containsExactly("program.jar");
    }
}
