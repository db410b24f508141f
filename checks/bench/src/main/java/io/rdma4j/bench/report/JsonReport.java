package io.rdma4j.bench.report;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;
import com.fasterxml.jackson.core.util.Separators.Spacing;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The table and the figures of all repetitions as JSON. */
public final class JsonReport {
    /** Writes infinities and NaN, which JSON cannot represent, as null. */
    private static final class Figure extends StdSerializer<Double> {
        private static final long serialVersionUID = 1;

        Figure() {
            super(Double.class);
        }

        @Override
        public void serialize(Double value, JsonGenerator json, SerializerProvider provider) throws IOException {
            if (Double.isFinite(value)) {
                json.writeNumber(value);
            } else {
                json.writeNull();
            }
        }
    }

    private static final ObjectWriter WRITER = JsonMapper.builder()
            .addModule(new SimpleModule().addSerializer(new Figure()))
            .build()
            .writer(new DefaultPrettyPrinter(Separators.createDefaultInstance()
                            .withObjectFieldValueSpacing(Spacing.AFTER)
                            .withArrayEmptySeparator("")
                            .withObjectEmptySeparator(""))
                    .withArrayIndenter(DefaultIndenter.SYSTEM_LINEFEED_INSTANCE));

    private JsonReport() {}

    /**
     * Writes the report.
     *
     * @param machine facts about the machine and the run
     */
    public static String write(Map<String, Object> machine, Map<String, Row> rows, Results results) throws IOException {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("machine", machine);
        List<Object> list = new ArrayList<>();
        for (Row row : rows.values()) {
            list.add(row(row, rows, results));
        }
        document.put("rows", list);
        return WRITER.writeValueAsString(document) + "\n";
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
