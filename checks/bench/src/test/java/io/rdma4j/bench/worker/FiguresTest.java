package io.rdma4j.bench.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class FiguresTest {
    private final Histogram times = Latencies.create();

    @Test
    void halfRoundTripsAreReportedInMicroseconds() {
        for (int i = 1; i <= 1000; i++) {
            times.recordValue(i * 1000L);
        }
        Figures figures = new Figures().addLatency(times, 0.5);
        assertThat(figures.values())
                .hasEntrySatisfying("p0Micros", value -> assertThat(value).isCloseTo(0.5, within(0.0005)))
                .hasEntrySatisfying("p50Micros", value -> assertThat(value).isCloseTo(250, within(0.25)))
                .hasEntrySatisfying("p99.9Micros", value -> assertThat(value).isCloseTo(499.5, within(0.5)))
                .hasEntrySatisfying("p100Micros", value -> assertThat(value).isCloseTo(500, within(0.5)))
                .containsEntry("samples", 1000.0);
    }

    @Test
    void percentilesOfNothingAreRejected() {
        Figures figures = new Figures();
        assertThatThrownBy(() -> figures.addLatency(times, 1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("nothing was measured");
    }

    @Test
    void finiteFiguresAreReadFromTheirText() {
        Figures figures = new Figures()
                .add(Figures.ofSecond(2, Figures.MEAN_MICROS), 1 / 3.0)
                .add("large", 2e9)
                .add("none", Double.NaN)
                .add("infinite", Double.POSITIVE_INFINITY);
        assertThat(Figures.parse(figures.toString()).values())
                .containsExactlyInAnyOrderEntriesOf(Map.of("second2.meanMicros", 1 / 3.0, "large", 2e9));
    }

    @Test
    void noFiguresAreReadFromAnEmptyText() {
        assertThat(Figures.parse(new Figures().toString()).values()).isEmpty();
    }
}
