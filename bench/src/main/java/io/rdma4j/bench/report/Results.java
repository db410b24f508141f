package io.rdma4j.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What the experiments brought, repetition by repetition. Not thread safe. */
public final class Results {
    /** Figures of an experiment by repetition. */
    private final Map<String, Map<Integer, Map<String, Double>>> figures = new LinkedHashMap<>();

    /** Why an experiment has no figures, or not all. */
    private final Map<String, String> reasons = new LinkedHashMap<>();

    /** Creates an empty set. */
    public Results() {}

    /** Adds the figures of one repetition. */
    public void add(String experiment, int repetition, Map<String, Double> values) {
        figures.computeIfAbsent(experiment, _ -> new TreeMap<>()).put(repetition, Map.copyOf(values));
    }

    /** Notes why an experiment could not be made, or failed. */
    public void addReason(String experiment, String reason) {
        reasons.put(experiment, reason);
    }

    /** Why there are no figures, or not all. */
    public Optional<String> reason(String experiment) {
        return Optional.ofNullable(reasons.get(experiment));
    }

    /** Figures of an experiment, repetition by repetition; empty if there are none. */
    public Map<Integer, Map<String, Double>> of(String experiment) {
        return figures.getOrDefault(experiment, Map.of());
    }

    /** The values of a figure over the repetitions. */
    public List<Double> values(String experiment, String figure) {
        List<Double> values = new ArrayList<>();
        for (Map<String, Double> repetition : of(experiment).values()) {
            Double value = repetition.get(figure);
            if (value != null && Double.isFinite(value)) {
                values.add(value);
            }
        }
        return values;
    }

    /** Statistics of a row, if it was measured. */
    public Optional<Statistics> statistics(Row row) {
        List<Double> values = values(row.experiment(), row.figure());
        return values.isEmpty() ? Optional.empty() : Optional.of(Statistics.of(values));
    }

    /** Which machine the repetitions were measured on. */
    private MachineStates states() {
        return new MachineStates(figures.values().stream()
                .flatMap(each -> each.values().stream())
                .toList());
    }

    /** How far apart the processors were; empty where that was not measured. */
    public String processorDistance() {
        return states().describe();
    }

    /**
     * The ratio of two rows: of their medians on the same machine, if it was two in turn ({@link MachineStates}), and else
     * within each repetition, because the machine is not the same in all of them.
     *
     * @return statistics of the ratios; empty if neither a machine nor a repetition has both
     */
    public Optional<Statistics> ratio(Row row, Row to) {
        MachineStates states = states();
        List<Double> ratios = new ArrayList<>();
        if (states.change()) {
            for (MachineStates.State state : List.of(MachineStates.State.NEAR, MachineStates.State.FAR)) {
                List<Double> mine = values(row, states, state);
                List<Double> others = values(to, states, state);
                if (!mine.isEmpty() && !others.isEmpty()) {
                    ratios.add(
                            Statistics.of(mine).median() / Statistics.of(others).median());
                }
            }
        }
        if (ratios.isEmpty()) {
            ratios = ratiosWithinRepetitions(row, to);
        }
        return ratios.isEmpty() ? Optional.empty() : Optional.of(Statistics.of(ratios));
    }

    private List<Double> values(Row row, MachineStates states, MachineStates.State state) {
        return of(row.experiment()).values().stream()
                .filter(figures -> states.of(figures) == state)
                .map(figures -> figures.getOrDefault(row.figure(), Double.NaN))
                .filter(Double::isFinite)
                .toList();
    }

    private List<Double> ratiosWithinRepetitions(Row row, Row to) {
        List<Double> ratios = new ArrayList<>();
        of(row.experiment()).forEach((repetition, mine) -> {
            Map<String, Double> others = of(to.experiment()).getOrDefault(repetition, Map.of());
            Double value = mine.get(row.figure());
            Double other = others.get(to.figure());
            if (value != null && other != null && Double.isFinite(value / other)) {
                ratios.add(value / other);
            }
        });
        return ratios;
    }

    /** How an aim of a row was reached: the ratio or the figure that counts; empty if it was not measured. */
    public Optional<Double> reached(Row row, Aim aim, Map<String, Row> rows) {
        if (aim.against() == null) {
            return statistics(row).map(Statistics::median);
        }
        Row other = rows.get(aim.against());
        return other == null ? Optional.empty() : ratio(row, other).map(Statistics::median);
    }
}
