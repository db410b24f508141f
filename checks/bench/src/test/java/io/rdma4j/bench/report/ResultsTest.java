package io.rdma4j.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ResultsTest {
    static final Row RAW =
            new Row("raw", "floor", "the floor", "e-raw", "p50Micros", Unit.MICROSECONDS, null, List.of());
    static final Row MEASURED = new Row(
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
        for (Row row : List.of(RAW, MEASURED, ABSENT)) {
            rows.put(row.id(), row);
        }
        return rows;
    }

    static Results results() {
        Results results = new Results();
        // The machine is twice as slow in the second repetition, and the floor has no figure in the third.
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
        Statistics ratio = results().ratio(MEASURED, RAW).orElseThrow();
        assertThat(ratio.count()).isEqualTo(2);
        assertThat(ratio.median()).isBetween(1.19999, 1.20001);
    }

    private static void add(
            Results results, String experiment, int repetition, double figure, double before, double after) {
        results.add(
                experiment,
                repetition,
                Map.of("p50Micros", figure, MachineStates.BEFORE, before, MachineStates.AFTER, after));
    }

    @Test
    void ratiosAreWithinOneStateIfTheMachineHasTwo() {
        Results results = new Results();
        add(results, "e-raw", 1, 2.0, 500, 520);
        add(results, "e-mine", 1, 1.5, 100, 110);
        add(results, "e-raw", 2, 1.0, 105, 100);
        add(results, "e-mine", 2, 3.4, 510, 490);
        add(results, "e-raw", 3, 7.0, 100, 500);
        Statistics ratio = results.ratio(MEASURED, RAW).orElseThrow();
        assertThat(ratio.minimum()).isEqualTo(1.5);
        assertThat(ratio.maximum()).isEqualTo(1.7);
        assertThat(results.processorDistance())
                .isEqualTo("100 to 520 ns: two states of the machine; ratios are within one state");
    }

    @Test
    void ratiosAreWithinRepetitionsIfNoStateHasBothRows() {
        Results results = new Results();
        add(results, "e-raw", 1, 2.0, 500, 520);
        add(results, "e-mine", 1, 1.5, 100, 110);
        assertThat(results.ratio(MEASURED, RAW).orElseThrow().median()).isEqualTo(0.75);
    }

    @Test
    void machineThatDoesNotChangeHasOneState() {
        Results results = new Results();
        add(results, "e-raw", 1, 2.0, 100, 120);
        add(results, "e-mine", 1, 4.0, 110, 190);
        assertThat(results.ratio(MEASURED, RAW).orElseThrow().median()).isEqualTo(2.0);
        assertThat(results.processorDistance()).isEqualTo("100 to 190 ns");
    }

    @Test
    void rowWithoutFiguresHasNeitherStatisticsNorRatio() {
        assertThat(results().statistics(ABSENT)).isEmpty();
        assertThat(results().ratio(ABSENT, RAW)).isEmpty();
        assertThat(results().ratio(MEASURED, ABSENT)).isEmpty();
    }

    @Test
    void aimsAreReachedByRatioOrByFigureOrNotMeasured() {
        List<Aim> aims = MEASURED.aims();
        assertThat(results().reached(MEASURED, aims.get(0), rows()).map(aims.get(0)::isMetBy))
                .contains(true);
        assertThat(results().reached(MEASURED, aims.get(1), rows())).isEmpty();
        assertThat(results().reached(MEASURED, aims.get(2), rows())).contains(4.8);
    }

    @Test
    void limitItselfMeetsAnAim() {
        assertThat(new Aim(true, 2, null).isMetBy(2)).isTrue();
        assertThat(new Aim(true, 2, null).isMetBy(2.001)).isFalse();
        assertThat(new Aim(false, 2, null).isMetBy(2)).isTrue();
        assertThat(new Aim(false, 2, null).isMetBy(1.999)).isFalse();
    }

    @Test
    void nanFiguresAreIgnored() {
        Results results = new Results();
        results.add("e-raw", 1, Map.of("p50Micros", Double.NaN));
        results.add("e-raw", 2, Map.of("p50Micros", 3.0));
        assertThat(results.statistics(RAW)).contains(new Statistics(1, 3, 3, 3));
    }
}
