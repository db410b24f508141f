package io.rdma4j.bench.plan;

import io.rdma4j.bench.report.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The rows of the table, and the experiments that they need. Not thread safe while it is being built. */
public final class Plan {
    private final Map<String, Row> rows = new LinkedHashMap<>();
    private final Map<String, Experiment> experiments = new LinkedHashMap<>();

    private final int level;

    /**
     * Creates an empty plan.
     *
     * @param level level of the {@link Pace}
     */
    Plan(int level) {
        this.level = level;
    }

    /** Returns the level of the pace. */
    int level() {
        return level;
    }

    /** Adds a row and its experiment. */
    void add(Row row, Experiment experiment) {
        if (rows.put(row.id(), row) != null) {
            throw new IllegalArgumentException("two rows are called " + row.id());
        }
        experiments.putIfAbsent(experiment.id(), experiment);
    }

    /** Returns the rows by ID, in their order. */
    public Map<String, Row> rows() {
        return rows;
    }

    /** Returns the experiments in their order. */
    public List<Experiment> experiments() {
        return List.copyOf(experiments.values());
    }

    /** Returns a plan of the rows whose ID or title contains a match of the pattern, and of their floors. */
    public Plan only(Pattern pattern) {
        Set<String> selected = new LinkedHashSet<>();
        for (Row row : rows.values()) {
            if (pattern.matcher(row.id()).find() || pattern.matcher(row.title()).find()) {
                selected.add(row.id());
                if (row.raw() != null) {
                    selected.add(row.raw());
                }
            }
        }
        Plan part = new Plan(level);
        for (Row row : new ArrayList<>(rows.values())) {
            Experiment experiment = experiments.get(row.experiment());
            if (selected.contains(row.id()) && experiment != null) {
                part.add(row, experiment);
            }
        }
        part.dropMissingReferences();
        return part;
    }

    /** Removes aims and floors that refer to rows missing in this plan. */
    void dropMissingReferences() {
        rows.replaceAll((_, row) -> new Row(
                row.id(),
                row.group(),
                row.title(),
                row.experiment(),
                row.figure(),
                row.unit(),
                row.raw() != null && rows.containsKey(row.raw()) ? row.raw() : null,
                row.aims().stream()
                        .filter(aim -> aim.against() == null || rows.containsKey(aim.against()))
                        .toList()));
    }
}
