package io.rdma4j.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatisticsTest {
    @Test
    void medianOfAnOddNumberIsTheMiddleValue() {
        assertThat(Statistics.of(List.of(9.0, 1.0, 4.0))).isEqualTo(new Statistics(3, 1, 4, 9));
    }

    @Test
    void medianOfAnEvenNumberIsTheMeanOfTheMiddleTwo() {
        assertThat(Statistics.of(List.of(8.0, 1.0, 2.0, 4.0))).isEqualTo(new Statistics(4, 1, 3, 8));
    }

    @Test
    void singleValueIsMinimumMedianAndMaximum() {
        assertThat(Statistics.of(List.of(7.5))).isEqualTo(new Statistics(1, 7.5, 7.5, 7.5));
    }

    @Test
    void statisticsOfNoValuesAreRejected() {
        assertThatThrownBy(() -> Statistics.of(List.of())).isInstanceOf(IllegalArgumentException.class);
    }
}
