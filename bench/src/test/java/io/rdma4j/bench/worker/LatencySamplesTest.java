package io.rdma4j.bench.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LatencySamplesTest {
    private final LatencySamples samples = new LatencySamples(1000);

    @Test
    void percentileIsTheTimeThatThatManyDoNotExceed() {
        for (int i = 100; i >= 1; i--) {
            samples.add(i * 10L);
        }
        assertThat(samples.percentileNanos(0)).isEqualTo(10);
        assertThat(samples.percentileNanos(50)).isEqualTo(500);
        assertThat(samples.percentileNanos(99)).isEqualTo(990);
        assertThat(samples.percentileNanos(99.9)).isEqualTo(1000);
        assertThat(samples.percentileNanos(100)).isEqualTo(1000);
    }

    @Test
    void samplesAddedAfterAPercentileCountInTheNextOne() {
        samples.add(5);
        assertThat(samples.percentileNanos(50)).isEqualTo(5);
        samples.add(1);
        assertThat(samples.percentileNanos(50)).isEqualTo(1);
    }

    @Test
    void samplesBeyondTheCapacityAreNotRecorded() {
        for (int i = 0; i < 1500; i++) {
            samples.add(i);
        }
        assertThat(samples.count()).isEqualTo(1000);
        assertThat(samples.percentileNanos(100)).isEqualTo(999);
    }

    @Test
    void emptySetHasNoPercentile() {
        samples.add(3);
        samples.clear();
        assertThatThrownBy(() -> samples.percentileNanos(50)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void halfRoundTripsAreReportedInMicroseconds() {
        samples.add(5000);
        Figures figures = new Figures().addLatency(samples, 0.5);
        assertThat(figures.values())
                .containsEntry("p50Micros", 2.5)
                .containsEntry("p99.9Micros", 2.5)
                .containsEntry("samples", 1.0);
    }
}
