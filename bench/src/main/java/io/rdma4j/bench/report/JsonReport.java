package io.rdma4j.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The table and the figures of all repetitions as JSON. */
public final class JsonReport {
    private JsonReport() {}

    /**
     * Writes the report.
     *
     * @param machine facts about the machine and the run
     */
    public static String write(Map<String, Object> machine, Map<String, Row> rows, Results results) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("machine", machine);
        List<Object> list = new ArrayList<>();
        for (Row row : rows.values()) {
            list.add(row(row, rows, results));
        }
        document.put("rows", list);
        return BenchJson.write(document);
    }

    private static Map<String, @Nullable Object> row(Row row, Map<String, Row> rows, Results results) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        map.put("id", row.id());
        map.put("group", row.group());
        map.put("title", row.title());
        map.put("experiment", row.experiment());
        map.put("figure", row.figure());
        map.put("unit", row.unit().symbol());
        results.statistics(row).ifPresent(statistics -> {
            map.put("median", statistics.median());
            map.put("least", statistics.minimum());
            map.put("most", statistics.maximum());
        });
        results.reason(row.experiment()).ifPresent(reason -> map.put("reason", reason));
        Row raw = row.raw() == null ? null : rows.get(row.raw());
        if (raw != null) {
            map.put("raw", raw.id());
            results.ratio(row, raw).ifPresent(ratio -> map.put("ratioToRaw", ratio.median()));
        }
        List<Object> aims = new ArrayList<>();
        for (Aim aim : row.aims()) {
            aims.add(aim(row, aim, rows, results));
        }
        map.put("aims", aims);
        map.put("repetitions", results.of(row.experiment()));
        return map;
    }

    private static Map<String, @Nullable Object> aim(Row row, Aim aim, Map<String, Row> rows, Results results) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        map.put(aim.atMost() ? "atMost" : "atLeast", aim.limit());
        map.put("against", aim.against());
        results.reached(row, aim, rows).ifPresent(value -> {
            map.put("reached", value);
            map.put("met", aim.isMetBy(value));
        });
        return map;
    }
}
