package io.rdma4j.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonReportTest {
    private static String text(Results results) throws IOException {
        Map<String, Object> machine = new LinkedHashMap<>();
        machine.put("processor", "a \"quoted\"\\ line\nand \t µ");
        machine.put("processors", 2);
        return JsonReport.write(machine, ResultsTest.rows(), results);
    }

    private static JsonNode report(Results results) throws IOException {
        return new ObjectMapper().readTree(text(results));
    }

    @Test
    void machineIsDescribedInTheGivenOrder() throws IOException {
        JsonNode machine = report(ResultsTest.results()).get("machine");
        assertThat(machine.fieldNames()).toIterable().containsExactly("processor", "processors");
        assertThat(machine.get("processor").asText()).isEqualTo("a \"quoted\"\\ line\nand \t µ");
        assertThat(machine.get("processors").asInt()).isEqualTo(2);
    }

    @Test
    void rowHasItsStatisticsAndTheFiguresOfEachRepetition() throws IOException {
        JsonNode row = report(ResultsTest.results()).get("rows").get(1);
        assertThat(row.fieldNames())
                .toIterable()
                .containsExactly(
                        "id",
                        "group",
                        "title",
                        "experiment",
                        "figure",
                        "unit",
                        "median",
                        "least",
                        "most",
                        "raw",
                        "ratioToRaw",
                        "aims",
                        "repetitions");
        assertThat(row.get("median").asDouble()).isEqualTo(4.8);
        assertThat(row.get("raw").asText()).isEqualTo("raw");
        assertThat(row.get("repetitions").fieldNames()).toIterable().containsExactly("1", "2", "3");
        assertThat(row.at("/repetitions/2/p99Micros").asDouble()).isEqualTo(8);
    }

    @Test
    void aimHasItsLimitAndWhetherItIsMet() throws IOException {
        JsonNode aims = report(ResultsTest.results()).at("/rows/1/aims");
        assertThat(aims.get(0).get("atMost").asDouble()).isEqualTo(1.25);
        assertThat(aims.get(0).get("against").asText()).isEqualTo("raw");
        assertThat(aims.get(0).get("met").asBoolean()).isTrue();
        assertThat(aims.get(1).fieldNames()).toIterable().containsExactly("atMost", "against");
        assertThat(aims.get(2).get("atLeast").asDouble()).isEqualTo(2);
        assertThat(aims.get(2).get("against").isNull()).isTrue();
    }

    @Test
    void rowWithoutFiguresHasTheReason() throws IOException {
        JsonNode row = report(ResultsTest.results()).get("rows").get(2);
        assertThat(row.has("median")).isFalse();
        assertThat(row.get("reason").asText()).isEqualTo("there is none here");
    }

    @Test
    void infinitiesAndNanAreNull() throws IOException {
        Results results = ResultsTest.results();
        results.add("e-raw", 3, Map.of("p50Micros", Double.NaN, "p99Micros", Double.POSITIVE_INFINITY));
        JsonNode repetition = report(results).at("/rows/0/repetitions/3");
        assertThat(List.of(
                        repetition.get("p50Micros").isNull(),
                        repetition.get("p99Micros").isNull()))
                .containsOnly(true);
    }

    @Test
    void everyValueIsOnASeparateLine() throws IOException {
        assertThat(text(ResultsTest.results()))
                .startsWith("{\n  \"machine\": {\n    \"processor\": ")
                .contains("\n  \"rows\": [\n    {\n      \"id\": \"raw\",\n", "\"aims\": [],\n")
                .endsWith("}\n");
    }
}
