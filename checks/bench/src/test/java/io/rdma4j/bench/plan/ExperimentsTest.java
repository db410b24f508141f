package io.rdma4j.bench.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.bench.report.Aim;
import io.rdma4j.bench.report.Row;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ExperimentsTest {
    static Stream<Pace> paces() {
        return Stream.of(Pace.QUICK, Pace.DEFAULT, Pace.FULL);
    }

    @ParameterizedTest
    @MethodSource("paces")
    void floorsAreRowsOfTheSameUnit(Pace pace) {
        Map<String, Row> rows = Experiments.plan(pace).rows();
        for (Row row : rows.values()) {
            if (row.raw() != null) {
                assertThat(rows).as(row.id()).containsKey(row.raw());
                assertThat(Objects.requireNonNull(rows.get(row.raw())).unit())
                        .as(row.id())
                        .isEqualTo(row.unit());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("paces")
    void aimsReferToExistingRows(Pace pace) {
        Map<String, Row> rows = Experiments.plan(pace).rows();
        for (Row row : rows.values()) {
            assertThat(rows.keySet())
                    .as(row.id())
                    .containsAll(row.aims().stream()
                            .map(Aim::against)
                            .filter(Objects::nonNull)
                            .toList());
        }
    }

    @ParameterizedTest
    @MethodSource("paces")
    void selectionIncludesItsFloors(Pace pace) {
        Plan plan = Experiments.plan(pace).only(Pattern.compile("^write-64$"));
        assertThat(plan.rows()).containsOnlyKeys("raw-crc-64", "write-64");
        assertThat(plan.experiments()).hasSize(2);
    }
}
