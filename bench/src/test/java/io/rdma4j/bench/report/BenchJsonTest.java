package io.rdma4j.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BenchJsonTest {
    private static Map<String, @Nullable Object> document() {
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put("text", "a \"quoted\"\\ line\nand \t µ");
        document.put("list", Arrays.asList(1.5, -2e9, null, true, List.of(), Map.of()));
        document.put("inner", Map.of("x", 0.25));
        return document;
    }

    @Test
    void writtenValuesParseToEqualValues() {
        assertThat(JsonParser.parse(BenchJson.write(document()))).isEqualTo(document());
        assertThat(JsonParser.parse(BenchJson.writeLine(document()))).isEqualTo(document());
    }

    @Test
    void writeLineWritesOneLine() {
        assertThat(BenchJson.writeLine(document())).doesNotContain("\n");
    }

    @Test
    void infinitiesAndNanAreNull() {
        assertThat(BenchJson.writeLine(Arrays.asList(Double.NaN, Double.POSITIVE_INFINITY)))
                .isEqualTo("[null, null]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[1,]", "{\"a\"}", "\"\\u12\"", "\"open", "nul", "1 2", "--", "[", "{\"a\":1,}"})
    void invalidJsonIsRejectedWithItsPosition(String text) {
        assertThatThrownBy(() -> JsonParser.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at character");
    }

    @Test
    void depthIsLimited() {
        assertThatThrownBy(() -> JsonParser.parse("[".repeat(100_000))).isInstanceOf(IllegalArgumentException.class);
    }
}
