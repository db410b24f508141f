package io.rdma4j.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Selection of cases, and the table with what it says of one that fails. */
@EnabledOnOs(OS.LINUX)
class CaseRunTest {
    private final PrintStream standard = System.out;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @TempDir
    Path logs = Path.of("");

    CaseRunTest() {
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void restore() {
        System.setOut(standard);
    }

    private static Case passing(String name, boolean isQuick) {
        return new Case(name, "C->Java", isQuick, Duration.ofSeconds(10), stage -> stage.remark("fast"));
    }

    private static CaseRun run(String... options) {
        CaseRun run = new CaseRun();
        new CommandLine(CommandLine.Model.CommandSpec.create()
                        .addMixin("run", CommandLine.Model.CommandSpec.forAnnotatedObject(run)))
                .parseArgs(options);
        return run;
    }

    private String text() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void casesAreSelectedByNameRolesAndSpeed() {
        List<Case> cases = List.of(passing("rping", true), passing("ucmatose", true), passing("rping/-q", false));
        assertThat(run().selected(cases)).isEqualTo(cases);
        assertThat(run("--quick", "--only", "rping").selected(cases)).containsExactly(cases.getFirst());
        assertThat(run("--only", "^rping C->J", "--only", "mat").selected(cases))
                .containsExactly(cases.get(0), cases.get(1));
    }

    @Test
    void tableHasTheRemarkOfACaseThatPassesAndDropsItsOutput() throws Exception {
        assertThat(run().run(List.of(passing("rping", true)), logs)).isZero();
        assertThat(text()).contains("rping ", "C->Java", " ok ", "fast", "1 of 1 rows passed");
        try (var kept = Files.list(logs.resolve("latest"))) {
            assertThat(kept).isEmpty();
        }
    }

    @Test
    void tableHasTheReasonAndTheOutputOfACaseThatFails() throws Exception {
        Case failing = new Case("rping", "C->C", true, Duration.ofSeconds(10), stage -> {
            RunningProcess process = stage.start("client", List.of(), List.of("sh", "-c", "echo refused >&2; exit 3"));
            process.requireSuccess();
        });
        Case faulty = new Case("other", "C->C", true, Duration.ofSeconds(10), stage -> {
            throw new IllegalStateException("a fault of the case");
        });
        assertThat(run().run(List.of(failing, faulty), logs)).isEqualTo(1);
        assertThat(text())
                .contains(
                        "FAILED",
                        "the client ended with 3",
                        "$ sh -c echo refused >&2; exit 3    # ended with 3",
                        "        refused",
                        "a fault of the case",
                        "0 of 2 rows passed",
                        "failed: rping C->C");
        assertThat(logs.resolve("latest/rping-C-_C/client.err")).hasContent("refused");
    }
}
