package io.rdma4j.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.bench.worker.Figures;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TableTest {
    private final String text = new Table(ResultsTest.rows(), ResultsTest.results()).text();

    private String line(String id) {
        return text.lines()
                .filter(line -> line.contains("[" + id + "]"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void rowShowsMedianSpreadP99RatioAndWhetherItsAimIsMet() {
        assertThat(line("mine").strip().replaceAll(" +", " "))
                .isEqualTo("a <row> & more [mine] 4.80 µs 2.40 100 8.00 1.20 ≤ 1.25 × raw 1.20 met");
    }

    @Test
    void everyAimHasALine() {
        assertThat(text).contains("≤ 1.00 × absent").contains("not measured").contains("≥ 2.00 µs");
    }

    @Test
    void skippedRowShowsTheReason() {
        assertThat(line("absent")).endsWith("skipped: there is none here");
    }

    @Test
    void aRowReportsThatJavaWasStillCompiling() {
        assertThat(text).doesNotContain("compiling");
        Results results = ResultsTest.results();
        results.add("e-mine", 3, Map.of("p50Micros", 4.8, "p99Micros", 8.0, Figures.STILL_COMPILING, 1.0));
        results.add("e-mine", 4, Map.of("p50Micros", 4.8, "p99Micros", 8.0, Figures.STILL_COMPILING, 0.0));
        assertThat(new Table(ResultsTest.rows(), results).text())
                .contains("Java was still compiling in 1 of 2 repetitions");
    }

    @Test
    void eachGroupHasAHeading() {
        assertThat(text.lines().filter(line -> line.equals("floor") || line.equals("ours")))
                .containsExactly("floor", "ours");
    }

    @Test
    void numbersHaveThreeSignificantDigits() {
        assertThat(Unit.number(1234.5)).isEqualTo("1235");
        assertThat(Unit.number(12.345)).isEqualTo("12.3");
        assertThat(Unit.number(1.2345)).isEqualTo("1.23");
        assertThat(Unit.number(0.12345)).isEqualTo("0.123");
        assertThat(Unit.number(0)).isEqualTo("0.00");
        assertThat(Unit.number(Double.NaN)).isEqualTo("-");
    }
}
