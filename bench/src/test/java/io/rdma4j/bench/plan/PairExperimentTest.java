package io.rdma4j.bench.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.bench.worker.Parameters;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

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
}
