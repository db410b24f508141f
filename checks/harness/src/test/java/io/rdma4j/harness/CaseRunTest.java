package io.rdma4j.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
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

    private static Case bodied(String name, Case.Extent extent, Case.Body body) {
        return new Case(name, "C->Java", "one ping", extent, Duration.ofSeconds(10), body);
    }

    @Test
    void longCasesRunOnlyIfTheyAreIncluded() {
        Case slow = bodied("silent", Case.Extent.LONG, stage -> {});
        CaseRun run = run();
        assertThat(run.selected(List.of(slow))).isEmpty();
        run.includeLong();
        assertThat(run.selected(List.of(slow))).containsExactly(slow);
    }

    @Test
    void caseThatCannotRunIsListedAndNotCountedAsPassed() throws Exception {
        Case impossible = bodied("xsrq", Case.Extent.QUICK, new Case.Impossible("no XRC"));
        Case possible = bodied("rping", Case.Extent.QUICK, stage -> {});
        assertThat(run().run(List.of(impossible, possible), logs)).isZero();
        assertThat(text()).contains("one ping", "no XRC", "1 of 1 rows passed", ", 1 cannot run");
    }

    @Test
    void runEndsAfterTheGivenNumberOfFailures() throws Exception {
        Case failing = bodied("rping", Case.Extent.QUICK, stage -> {
            throw new CaseFailure("refused");
        });
        CaseRun run = run();
        run.stopAfter(2);
        assertThat(run.run(List.of(failing, failing, failing), logs)).isEqualTo(1);
        assertThat(text()).contains("Stopped after 2 failed rows.", "0 of 2 rows passed");
    }

    @Test
    void caseRunsAgainAfterAKnownFaultUntilItPassesOrFailsTooOften() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Case recovering = bodied("mckey", Case.Extent.QUICK, stage -> {
            if (runs.incrementAndGet() < 3) {
                throw new KnownFault("Linux sent 7 of 10");
            }
        });
        assertThat(run().run(List.of(recovering), logs)).isZero();
        assertThat(text()).contains(" again ", "Linux sent 7 of 10", "1 of 1 rows passed");
        AtomicInteger failures = new AtomicInteger();
        Case failing = bodied("udpong", Case.Extent.QUICK, stage -> {
            failures.incrementAndGet();
            throw new KnownFault("never right");
        });
        assertThat(run().run(List.of(failing), logs)).isEqualTo(1);
        assertThat(failures).hasValue(6);
    }

    /** A guest that has stopped before the first end of a case. */
    private static final class StoppingGuest implements Surroundings {
        private int ended;
        private boolean isReplaced;

        @Override
        public void end(Case each, Stage stage) {
            ended++;
        }

        @Override
        public @Nullable String replaced(Case failed) {
            if (isReplaced) {
                return null;
            }
            isReplaced = true;
            return "a new guest";
        }

        @Override
        public List<String> report(Case failed, Stage stage) {
            return List.of("last packets: none");
        }

        @Override
        public List<String> faults() {
            return List.of("fault injection");
        }
    }

    @Test
    void surroundingsEndEachCaseAndHaveItRunAgainIfTheyHaveFailed() throws Exception {
        StoppingGuest guest = new StoppingGuest();
        Case failing = bodied("rping", Case.Extent.QUICK, stage -> {
            throw new CaseFailure("no answer");
        });
        Path folder = CaseRun.newFolder(logs, "-guest");
        assertThat(run().run(List.of(failing), folder, guest)).isEqualTo(1);
        assertThat(guest.ended).isEqualTo(2);
        assertThat(logs.resolve("latest-guest")).isSymbolicLink();
        assertThat(text())
                .contains(" stopped ", "a new guest", " FAILED ", "    last packets: none", "failed: fault injection");
    }
}
