package io.rdma4j.bench.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.bench.worker.Parameters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PairExperimentTest {
    private static final Pace TINY = new Pace("tiny", 0, 1, 1, 1, 60, 30);

    @Test
    void twoProcessesMeasureAndReport() throws Exception {
        var figures = new PairExperiment(
                        "channel-latency", List.of(), Parameters.of("kind", "tcp", "size", 64, "wait", "block"))
                .run(TINY);
        assertThat(figures.get("p50Micros")).isGreaterThan(0).isLessThan(1e6);
        assertThat(figures.get("samples")).isGreaterThanOrEqualTo(1);
    }

    @Test
    void failureOfAProcessIsReportedWithItsReason() {
        var experiment = new PairExperiment("no-such-test", List.of(), Parameters.of());
        assertThatThrownBy(() -> experiment.run(TINY))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no measurement no-such-test");
    }

    /** Runs an experiment, and returns the names of all classes that its two processes have loaded. */
    private static String loadedClasses(Path folder, Object... parameters) throws Exception {
        new PairExperiment(
                        "channel-latency",
                        JavaCommand.PLAIN,
                        List.of("-Xlog:class+load:file=" + folder.resolve("%p.classes") + ":none"),
                        Parameters.of(parameters))
                .run(TINY);
        StringBuilder classes = new StringBuilder();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                classes.append(Files.readString(file));
            }
        }
        return classes.toString();
    }

    @Test
    void librariesAreNotLoadedDuringTheFirstSeconds(@TempDir Path folder) throws Exception {
        assertThat(loadedClasses(folder, "kind", "tcp", "size", 64, "firstSeconds", 1))
                .contains("io.rdma4j.bench.worker.FirstSeconds ")
                .doesNotContain("org.HdrHistogram.", "com.fasterxml.", "picocli.");
    }

    @Test
    void workersLoadOnlyTheHistogramForPercentiles(@TempDir Path folder) throws Exception {
        assertThat(loadedClasses(folder, "kind", "tcp", "size", 64))
                .contains("org.HdrHistogram.Histogram ")
                .doesNotContain("com.fasterxml.", "picocli.");
    }
}
