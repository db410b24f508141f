package io.rdma4j.bench.plan;

import io.rdma4j.bench.report.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The rows of the table and the experiments that they need. Not thread safe while it is built. */
public final class Plan {
    private final Map<String, Row> rows = new LinkedHashMap<>();
    private final Map<String, Experiment> experiments = new LinkedHashMap<>();

    /** Creates an empty plan. */
    public Plan() {}

    /** Adds a row and its experiment. */
    void add(Row row, Experiment experiment) {
        if (rows.put(row.id(), row) != null) {
            throw new IllegalArgumentException("two rows are called " + row.id());
        }
        experiments.putIfAbsent(experiment.id(), experiment);
    }

    /** Rows by id, in their order. */
    public Map<String, Row> rows() {
        return rows;
    }

    /** Experiments in their order. */
    public List<Experiment> experiments() {
        return List.copyOf(experiments.values());
    }

    /** The rows whose id or title has the pattern in it, and the floors of those. */
    public Plan only(Pattern pattern) {
        Set<String> wanted = new LinkedHashSet<>();
        for (Row row : rows.values()) {
            if (pattern.matcher(row.id()).find() || pattern.matcher(row.title()).find()) {
                wanted.add(row.id());
                if (row.raw() != null) {
                    wanted.add(row.raw());
                }
            }
        }
        Plan part = new Plan();
        for (Row row : new ArrayList<>(rows.values())) {
            Experiment experiment = experiments.get(row.experiment());
            if (wanted.contains(row.id()) && experiment != null) {
                part.add(row, experiment);
            }
        }
        return part;
    }
}
