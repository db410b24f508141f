package io.rdma4j.tools.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LatencyHistogramTest {
    @Test
    void emptyHistogramIsAllZero() {
        LatencyHistogram histogram = new LatencyHistogram();
        assertThat(histogram.count()).isZero();
        assertThat(histogram.percentileNanos(50)).isZero();
        assertThat(histogram.maximumNanos()).isZero();
        assertThat(histogram.minimumNanos()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 127, 128, 129, 255, 256, 1_000_000, 123_456_789_012L, Long.MAX_VALUE})
    void singleValueIsEveryPercentile(long value) {
        LatencyHistogram histogram = new LatencyHistogram();
        histogram.record(value);
        for (double percent : new double[] {0, 50, 99.9, 100}) {
            assertThat(histogram.percentileNanos(percent)).isEqualTo(value);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void percentilesAreThoseOfTheSortedValues(long seed) {
        Random random = new Random(seed);
        LatencyHistogram histogram = new LatencyHistogram();
        long[] values = new long[10_000];
        for (int i = 0; i < values.length; i++) {
            values[i] = (long) Math.exp(random.nextDouble() * 20);
            histogram.record(values[i]);
        }
        Arrays.sort(values);
        for (double percent : new double[] {1, 50, 90, 99, 99.9, 100}) {
            long exact = values[(int) Math.ceil(percent / 100 * values.length) - 1];
            assertThat(histogram.percentileNanos(percent)).isCloseTo(exact, Percentage.withPercentage(100.0 / 64));
        }
        assertThat(histogram.minimumNanos()).isEqualTo(values[0]);
    }
}
