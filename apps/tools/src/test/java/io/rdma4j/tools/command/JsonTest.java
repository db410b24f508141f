package io.rdma4j.tools.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void objectsAndListsAreIndentedInTheirOrder() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("b", 1);
        map.put("a", new ArrayList<>(Arrays.asList(true, null, 2.5)));
        assertThat(Json.write(map)).isEqualTo("{\n  \"b\": 1,\n  \"a\": [\n    true,\n    null,\n    2.5\n  ]\n}");
    }

    @Test
    void emptyContainersHaveNoLineBreaks() {
        assertThat(Json.write(List.of(Map.of(), List.of()))).isEqualTo("[\n  {},\n  []\n]");
    }

    @Test
    void charactersThatJsonForbidsAreEscaped() {
        assertThat(Json.write("a\"b\\c\n\t\u0001ü\ud800")).isEqualTo("\"a\\\"b\\\\c\\n\\t\\u0001ü\\ud800\"");
    }

    @Test
    void nonFiniteNumbersAreNull() {
        assertThat(Json.write(List.of(Double.NaN, Double.POSITIVE_INFINITY, Float.NaN)))
                .isEqualTo("[\n  null,\n  null,\n  null\n]");
    }
}
