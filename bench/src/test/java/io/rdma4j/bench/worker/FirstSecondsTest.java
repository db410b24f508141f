package io.rdma4j.bench.worker;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FirstSecondsTest {
    private static final long MILLI = 1_000_000;

    @Test
    void eachSecondHasAFigureOfItsOwn() {
        FirstSeconds seconds = new FirstSeconds(50, 2);
        assertThat(seconds.endNanos()).isEqualTo(1000 * MILLI + 50);
        seconds.add("rate", seconds.end(1000 * MILLI + 50, 500 * MILLI));
        assertThat(seconds.next()).isTrue();
        assertThat(seconds.endNanos()).isEqualTo(2000 * MILLI + 50);
        seconds.add("rate", seconds.end(2000 * MILLI + 50, 2500 * MILLI));
        assertThat(seconds.next()).isFalse();

        Figures figures = new Figures();
        seconds.report(figures, 10);
        assertThat(figures.values()).containsEntry("second1.rate", 5.0).containsEntry("second2.rate", 20.0);
    }

    @Test
    void aReadingThatComesLateIsDividedByTheTimeItCovers() {
        FirstSeconds seconds = new FirstSeconds(0, 2);
        assertThat(seconds.end(1250 * MILLI, 1250 * MILLI)).isEqualTo(1.0);
    }

    @Test
    void aReadingThatComesMuchTooLateIsNoFigure() {
        FirstSeconds seconds = new FirstSeconds(0, 2);
        assertThat(seconds.end(1600 * MILLI, 1)).isNaN();
    }

    @Test
    void aMeasurementWithFirstSecondsCountsFromTheStartOfTheProcess() {
        FirstSeconds seconds = FirstSeconds.of(Parameters.of("firstSeconds", 3));
        assertThat(seconds).isNotNull();
        assertThat(FirstSeconds.of(Parameters.of())).isNull();
    }
}
