package io.rdma4j.bench.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.bench.report.Results;
import io.rdma4j.bench.worker.MissingPeerException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MeasurementRunTest {
    private static final Pace THREE = new Pace("three", 0, 1, 1, 3, 60, 30);

    private final List<String> executed = new ArrayList<>();
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    private interface Body {
        Map<String, Double> run() throws MissingPeerException, IOException;
    }

    private Experiment experiment(String id, Body body) {
        return new Experiment() {
            @Override
            public String id() {
                return id;
            }

            @Override
            public Map<String, Double> run(Pace pace) throws MissingPeerException, IOException {
                executed.add(id);
                return body.run();
            }
        };
    }

    private Results run(Pace pace, Experiment... experiments) throws InterruptedException {
        RunProgress progress = new RunProgress(new PrintStream(output, true, StandardCharsets.UTF_8), false);
        return new MeasurementRun(List.of(experiments), pace, 0, progress).run();
    }

    @Test
    void repetitionsAlternate() throws Exception {
        Results results = run(THREE, experiment("a", () -> Map.of("x", 1.0)), experiment("b", () -> Map.of("x", 2.0)));
        assertThat(executed).containsExactly("a", "b", "a", "b", "a", "b");
        assertThat(results.values("b", "x")).containsExactly(2.0, 2.0, 2.0);
    }

    @Test
    void missingPeerIsNotRetried() throws Exception {
        Results results = run(
                THREE,
                experiment("a", () -> {
                    throw new MissingPeerException("not here");
                }),
                experiment("b", () -> Map.of("x", 2.0)));
        assertThat(executed).containsExactly("a", "b", "b", "b");
        assertThat(results.reason("a")).contains("not here");
    }

    @Test
    void failedExperimentIsRetriedAndReported() throws Exception {
        Results results = run(THREE, experiment("a", () -> {
            if (executed.size() == 2) {
                throw new IOException("broken");
            }
            return Map.of("x", 1.0);
        }));
        assertThat(executed).hasSize(3);
        assertThat(results.of("a")).containsOnlyKeys(1, 3);
        assertThat(results.reason("a")).contains("repetition 2 failed: broken");
        assertThat(output.toString(StandardCharsets.UTF_8)).contains("a: repetition 2 failed: broken");
    }

    @Test
    void noRepetitionStartsAfterTheTimeIsUp() throws Exception {
        Results results = run(new Pace("none", 0, 1, 1, 3, 0, 30), experiment("a", () -> Map.of("x", 1.0)));
        assertThat(executed).isEmpty();
        assertThat(results.reason("a").orElseThrow()).startsWith("no time was left");
    }

    @Test
    void onceExperimentRunsOnceAndHasFiguresInEveryRepetition() throws Exception {
        Results results = run(THREE, new OnceExperiment(experiment("a", () -> Map.of("x", 4.0))));
        assertThat(executed).containsExactly("a");
        assertThat(results.values("a", "x")).containsExactly(4.0, 4.0, 4.0);
    }
}
