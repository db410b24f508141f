package io.rdma4j.tools.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.simulator.Cluster;
import io.rdma4j.tools.command.ToolEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SimTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(Sim tool, String words) {
        return tool.run(
                List.of(words.split(" ")),
                new ToolEnvironment(
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8)));
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void outputDoesNotDependOnTheNumberOfJobs() {
        assertThat(run(new Sim(), "--seed 3 --runs 12 --jobs 1")).isZero();
        String first = out();
        out.reset();
        assertThat(run(new Sim(), "-s3 -n12 -j4")).isZero();
        assertThat(out())
                .isEqualTo(first)
                .matches("seeds 3 to 14: trace hash [0-9a-f]{16}, .* all runs match the model\n");
        out.reset();
        assertThat(run(new Sim(), "--seed 4 --runs 12")).isZero();
        assertThat(out()).isNotEqualTo(first);
    }

    @Test
    void everySeedRunsOnce() {
        Set<Long> seeds = ConcurrentHashMap.newKeySet();
        Sim tool = new Sim((seed, trace) -> {
            assertThat(seeds.add(seed)).isTrue();
            return new Cluster.Result(seed, seed, 2, 10, 1, 1, 1, 1, 1, 1, 1);
        });
        assertThat(run(tool, "--seed -5 --runs 100 --jobs 3")).isZero();
        assertThat(new TreeSet<>(seeds)).hasSize(100).startsWith(-5L).endsWith(94L);
        assertThat(out()).startsWith("seeds -5 to 94: ").contains(" 1000 frames delivered, 100 lost");
    }

    @Test
    void failedSeedIsPrintedWithTheCommandThatReplaysIt() {
        Sim tool = new Sim((seed, trace) -> {
            if (seed == 7) {
                throw new IllegalStateException("nothing goes");
            }
            return new Cluster.Result(seed, seed, 2, 10, 1, 1, 1, 1, 1, 1, 1);
        });
        assertThat(run(tool, "--runs 20")).isEqualTo(1);
        assertThat(out()).contains("1 FAILED");
        assertThat(err())
                .contains("seed 7: java.lang.IllegalStateException: nothing goes")
                .contains("to reproduce: rdma4j sim --seed 7 --trace\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--runs 0", "--runs many", "--jobs -1", "--seed 1.5", "now", "--seeds-of-plants 3"})
    void invalidOptionsPrintTheHelp(String words) {
        assertThat(run(new Sim(), words)).isEqualTo(2);
        assertThat(err()).contains("rdma4j sim: ").contains("usage: rdma4j sim");
    }
}
