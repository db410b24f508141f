package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class MainTest {
    /** The tools that C does not have. */
    private static final Set<String> OWN_TOOLS =
            Set.of("run", "exec", "demo", "doctor", "top", "guardian", "sim", "man", "completion");

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
    void unknownToolSuggestsTheNearest(String typed, String expected) {
        assertThat(run(typed)).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("there is no tool '" + typed + "'; did you mean '" + expected + "'?");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rping --json --fault x | \"rping\" | 2 | is not a fault and its value",
                "--json rping --pcap /no/such/folder/x | \"rping\" | 2 | directory /no/such/folder does not exist",
                "rping --json --pcap | \"rping\" | 2 | option --pcap requires a value",
                "rpnig --json | \"rpnig\" | 2 | did you mean 'rping'?",
                "--json | null | 2 | which tool?",
                "--json --help | null | 2 | which tool?",
                "rping -c -Z --json | \"rping\" | 22 | ",
                "rping -c -a ::1%lo --json | \"rping\" | 254 | ",
                "rcopy --json /no/such/file 127.0.0.1 | \"rcopy\" | 255 | ",
            })
    void documentOfAFailureHasStatusAndReason(String words, String tool, int status, @Nullable String reason) {
        assertThat(run(words.split(" "))).isEqualTo(status);
        String document = out.toString(StandardCharsets.UTF_8);
        assertThat(document)
                .startsWith("{\n  \"tool\": " + tool + ",\n  \"arguments\": [")
                .contains("\n  \"status\": " + status + ",\n  \"reason\": \"")
                .endsWith("\n}\n");
        assertThat(document.substring(document.indexOf("\"reason\"")))
                .contains(Objects.requireNonNullElse(reason, ""))
                .doesNotContain("\"reason\": \"\"");
    }

    /** The system keeps only the low byte of a status, so 256 would mean success. */
    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "-1, 255", "-12, 244", "255, 255", "256, 255", "-256, 255", "65536, 255", "257, 1"})
    void noFailureEndsTheProcessWithZero(int status, int expected) {
        assertThat(Main.exitStatus(status)).isEqualTo(expected);
    }

    static List<Throwable> memoryErrors() {
        OutOfMemoryError lack = new OutOfMemoryError("Java heap space");
        return List.of(lack, new BootstrapMethodError(lack), new IllegalStateException(new BootstrapMethodError(lack)));
    }

    @ParameterizedTest
    @MethodSource("memoryErrors")
    void threadWithoutMemoryIsNotADefect(Throwable failure) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream err = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        Main.reportUnexpected(failure, "thread cmtime-peer", List.of("cmtime"), err);
        assertThat(bytes.toString(StandardCharsets.UTF_8).lines())
                .singleElement()
                .asString()
                .startsWith("rdma4j: thread cmtime-peer has no memory left: Java heap space; ");
    }

    @Test
    void doctorReportsItsFindingsAsJson() {
        assertThat(run("doctor", "--json")).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("\"java\": \"" + Runtime.version(), "\"network\": \"", "\"kernelDevices\": [")
                .containsPattern("\"name\": \"rdma4j_lo[^\"]*\",\n +\"interface\": \"lo")
                .contains("\"address\": \"127.0.0.1\",");
    }

    @Test
    void helpWithJsonPrintsADocument() {
        assertThat(run("rping", "--json", "--help")).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .startsWith("{\n  \"tool\": \"rping\"")
                .endsWith("\"status\": 0,\n  \"reason\": null\n}\n");
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("rping -s ");
    }

    /** The server returns success after the interrupt, but the process exits with the status of the signal. */
    @RepeatedTest(5)
    void documentOfAnInterruptedToolHasNoStatus() throws InterruptedException {
        ToolRun server =
                ToolRun.start("rcopy --json" + ToolTestSupport.port()).awaitCall(RdmaStreamSocket.class, "accept");
        server.interrupt();
        server.status();
        assertThat(server.out()).containsOnlyOnce("\"tool\"").endsWith("\"status\": null,\n  \"reason\": null\n}\n");
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
        String launcher = Files.readString(Checkout.ROOT.resolve("apps/tools/launcher/launch.sh"));
        for (Tool tool : Main.tools()) {
            assertThat(launcher).contains("  %-15s %s\n".formatted(tool.name(), tool.summary()));
        }
    }

    @Test
    void everyToolOfCHasALink() {
        for (Tool tool : Main.tools()) {
            if (!OWN_TOOLS.contains(tool.name())) {
                assertThat(Checkout.ROOT.resolve("bin").resolve(tool.name())).exists();
            }
        }
    }
}
