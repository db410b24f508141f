package io.rdma4j.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ResultsTest {
    static final Row RAW =
            new Row("raw", "floor", "the floor", "e-raw", "p50Micros", Unit.MICROSECONDS, null, List.of());
    static final Row MINE = new Row(
            "mine",
            "ours",
            "a <row> & more",
            "e-mine",
            "p50Micros",
            Unit.MICROSECONDS,
            "raw",
            List.of(new Aim(true, 1.25, "raw"), new Aim(true, 1, "absent"), new Aim(false, 2, null)));
    static final Row ABSENT =
            new Row("absent", "ours", "absent", "e-absent", "p50Micros", Unit.MICROSECONDS, "raw", List.of());

    static Map<String, Row> rows() {
        Map<String, Row> rows = new LinkedHashMap<>();
        for (Row row : List.of(RAW, MINE, ABSENT)) {
            rows.put(row.id(), row);
        }
        return rows;
    }

    static Results results() {
        Results results = new Results();
        // The machine is twice as slow in the second repetition, and nothing was measured of the floor in the third.
        results.add("e-raw", 1, Map.of("p50Micros", 2.0, "p99Micros", 5.0));
        results.add("e-raw", 2, Map.of("p50Micros", 4.0, "p99Micros", 9.0));
        results.add("e-mine", 1, Map.of("p50Micros", 2.4, "p99Micros", 7.0));
        results.add("e-mine", 2, Map.of("p50Micros", 4.8, "p99Micros", 8.0));
        results.add("e-mine", 3, Map.of("p50Micros", 100.0, "p99Micros", 200.0));
        results.addReason("e-absent", "there is none here");
        return results;
    }

    @Test
    void ratiosAreTakenWithinRepetitions() {
        Statistics ratio = results().ratio(MINE, RAW).orElseThrow();
        assertThat(ratio.count()).isEqualTo(2);
        assertThat(ratio.median()).isBetween(1.19999, 1.20001);
    }

    @Test
    void aRowWithoutFiguresHasNeitherStatisticsNorRatio() {
        assertThat(results().statistics(ABSENT)).isEmpty();
        assertThat(results().ratio(ABSENT, RAW)).isEmpty();
        assertThat(results().ratio(MINE, ABSENT)).isEmpty();
    }

    @Test
    void aimsAreReachedByRatioOrByFigureOrNotMeasured() {
        List<Aim> aims = MINE.aims();
        assertThat(results().reached(MINE, aims.get(0), rows()).map(aims.get(0)::isMetBy))
                .contains(true);
        assertThat(results().reached(MINE, aims.get(1), rows())).isEmpty();
        assertThat(results().reached(MINE, aims.get(2), rows())).contains(4.8);
    }

    @Test
    void theLimitItselfMeetsAnAim() {
        assertThat(new Aim(true, 2, null).isMetBy(2)).isTrue();
        assertThat(new Aim(true, 2, null).isMetBy(2.001)).isFalse();
        assertThat(new Aim(false, 2, null).isMetBy(2)).isTrue();
        assertThat(new Aim(false, 2, null).isMetBy(1.999)).isFalse();
    }

    @Test
    void figuresThatAreNoNumbersDoNotCount() {
        Results results = new Results();
        results.add("e-raw", 1, Map.of("p50Micros", Double.NaN));
        results.add("e-raw", 2, Map.of("p50Micros", 3.0));
        assertThat(results.statistics(RAW)).contains(new Statistics(1, 3, 3, 3));
    }
}
