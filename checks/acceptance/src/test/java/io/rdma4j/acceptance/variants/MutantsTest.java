package io.rdma4j.acceptance.variants;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.simulator.Simulation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the simulations find each deliberate mistake, and nothing in the unchanged build. */
class MutantsTest {
    private static final int SEEDS = 400;
    private static final int LIMIT_SECONDS = 60; // for one seed, which normally takes milliseconds

    /** One mutant in twenty may remain undetected. */
    private static final double MIN_CAUGHT = 0.95;

    private static final List<Mutant> MUTANTS = Mutants.all();

    @TempDir
    private Path scratch = Path.of("");

    @Test
    void everyReplacedTextOccursOnceInItsSource() throws Exception {
        Path home = Variant.home();
        List<Substitution> all = new ArrayList<>(Mutants.smallNumbers());
        MUTANTS.forEach(mutant -> all.add(mutant.substitution()));
        for (Substitution each : all) {
            assertThat(each.occurrences(home)).as("%s", each).isEqualTo(1);
        }
        assertThat(MUTANTS)
                .hasSizeGreaterThanOrEqualTo(20)
                .extracting(Mutant::name)
                .doesNotHaveDuplicates();
    }

    @Test
    void variantLoadsNoClassOfTheRunningBuild() throws Exception {
        try (Variant same = Variant.ofChanged(List.of(), scratch)) {
            assertThat(same.load(Simulation.class.getName())).isNotSameAs(Simulation.class);
        }
    }

    @Test
    void deliberateMistakesAreFound() throws Exception {
        String only = System.getProperty("rdma4j.mutant", "");
        Map<String, String> caught = new TreeMap<>();
        Map<String, String> missed = new TreeMap<>();
        Map<String, String> unfinished = new TreeMap<>();
        for (Mutant mutant : MUTANTS) {
            if (only.isEmpty() || mutant.name().equals(only)) {
                MutantRunner.Result result = MutantRunner.mutant(
                        mutant, Files.createDirectory(scratch.resolve(mutant.name())), SEEDS, LIMIT_SECONDS);
                (result.isUnfinished() ? unfinished : result.isCaught() ? caught : missed)
                        .put(mutant.name(), result.seeds() + " seeds: " + result.message());
            }
        }
        String table = caught.entrySet().stream()
                .map(each -> each.getKey() + ": " + each.getValue())
                .collect(Collectors.joining("\n"));
        assertThat(unfinished).as("runs that did not finish").isEmpty();
        int maxMissed = only.isEmpty() ? (int) (MUTANTS.size() * (1 - MIN_CAUGHT)) : 0;
        assertThat(missed.size()).as("missed: %s%ncaught: %s", missed, table).isLessThanOrEqualTo(maxMissed);
    }

    @Test
    void unchangedBuildPasses() throws Exception {
        try (Variant same = Variant.ofChanged(List.of(), scratch)) {
            List<String> simulations =
                    MUTANTS.stream().map(Mutant::simulation).distinct().toList();
            for (String each : simulations) {
                MutantRunner.Result result = MutantRunner.run(same.simulation(each), SEEDS, LIMIT_SECONDS);
                assertThat(result.verdict())
                        .as("%s: %s", each, result.message())
                        .isEqualTo(MutantRunner.Verdict.NOTHING_FOUND);
            }
        }
    }

    @Test
    void smallNumbersThatWrapPass() throws Exception {
        try (Variant small = Variant.ofSmallNumbers(List.of(), scratch)) {
            Variant.Run reliable = small.simulation(Simulation.class.getName());
            MutantRunner.Result result = MutantRunner.run(reliable, 5 * SEEDS, LIMIT_SECONDS);
            assertThat(result.verdict()).as(result.message()).isEqualTo(MutantRunner.Verdict.NOTHING_FOUND);
        }
    }
}
