package io.rdma4j.bench.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class FirstSecondsTest {
    private static final long MILLI = 1_000_000;

    private static boolean end(FirstSeconds seconds, long now, double total) {
        return seconds.end(now, total, "rate", rate -> rate);
    }

    private static Map<String, Double> figures(FirstSeconds seconds, double factor) {
        Figures figures = new Figures();
        seconds.report(figures, factor);
        return figures.values();
    }

    @Test
    void eachSecondHasASeparateFigure() {
        FirstSeconds seconds = new FirstSeconds(50, 2);
        assertThat(seconds.endNanos()).isEqualTo(1000 * MILLI + 50);
        assertThat(end(seconds, 1000 * MILLI + 50, 500 * MILLI)).isTrue();
        assertThat(seconds.endNanos()).isEqualTo(2000 * MILLI + 50);
        assertThat(end(seconds, 2000 * MILLI + 50, 2500 * MILLI)).isFalse();
        assertThat(figures(seconds, 10)).containsEntry("second1.rate", 5.0).containsEntry("second2.rate", 20.0);
    }

    @Test
    void aLateReadingIsDividedByTheTimeItCovers() {
        FirstSeconds seconds = new FirstSeconds(0, 2);
        end(seconds, 1250 * MILLI, 1250 * MILLI);
        assertThat(figures(seconds, 1)).containsEntry("second1.rate", 1.0);
    }

    @Test
    void secondsWithoutAReadingShareTheNextOne() {
        FirstSeconds seconds = new FirstSeconds(0, 3);
        assertThat(end(seconds, 2500 * MILLI, 1000 * MILLI)).isTrue();
        assertThat(seconds.endNanos()).isEqualTo(3000 * MILLI);
        assertThat(figures(seconds, 1)).containsEntry("second1.rate", 0.4).containsEntry("second2.rate", 0.4);
    }

    @Test
    void secondsCountFromTheStartOfTheProcess() {
        FirstSeconds seconds = FirstSeconds.of(Parameters.of("firstSeconds", 3));
        assertThat(seconds).isNotNull();
        assertThat(FirstSeconds.of(Parameters.of())).isNull();
    }
}
