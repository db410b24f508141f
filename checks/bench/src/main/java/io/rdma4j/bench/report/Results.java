package io.rdma4j.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The figures of the experiments by repetition. Not thread safe. */
public final class Results {
    /** The figures by experiment and repetition. */
    private final Map<String, Map<Integer, Map<String, Double>>> figures = new LinkedHashMap<>();

    /** The reasons for missing figures, by experiment. */
    private final Map<String, String> reasons = new LinkedHashMap<>();

    /** Creates an empty set. */
    public Results() {}

    /** Adds the figures of one repetition. */
    public void add(String experiment, int repetition, Map<String, Double> values) {
        figures.computeIfAbsent(experiment, _ -> new TreeMap<>()).put(repetition, Map.copyOf(values));
    }

    /** Records the reason why an experiment was not possible or failed. */
    public void addReason(String experiment, String reason) {
        reasons.put(experiment, reason);
    }

    /** Returns the reason for missing figures, if any. */
    public Optional<String> reason(String experiment) {
        return Optional.ofNullable(reasons.get(experiment));
    }

    /** Returns the figures of an experiment by repetition; empty if there are none. */
    public Map<Integer, Map<String, Double>> of(String experiment) {
        return figures.getOrDefault(experiment, Map.of());
    }

    /** Returns the values of a figure over the repetitions. */
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

    /** Returns the statistics of a row, if it was measured. */
    public Optional<Statistics> statistics(Row row) {
        List<Double> values = values(row.experiment(), row.figure());
        return values.isEmpty() ? Optional.empty() : Optional.of(Statistics.of(values));
    }

    /** Returns the states of the machine during the repetitions. */
    private MachineStates states() {
        return new MachineStates(figures.values().stream()
                .flatMap(each -> each.values().stream())
                .toList());
    }

    /** Returns the range of round-trip times between processors; empty if it was not measured. */
    public String processorDistance() {
        return states().describe();
    }

    /**
     * Returns the ratio of two rows.
     *
     * <p>If the machine has two states ({@link MachineStates}), it is the ratio of the medians within each state.
     * Otherwise it is the ratio within each repetition, because the machine's speed varies between repetitions.
     *
     * @return statistics of the ratios; empty if neither a state nor a repetition has figures of both rows
     */
    public Optional<Statistics> ratio(Row row, Row reference) {
        MachineStates states = states();
        List<Double> ratios = new ArrayList<>();
        if (states.hasTwoStates()) {
            for (MachineStates.State state : List.of(MachineStates.State.NEAR, MachineStates.State.FAR)) {
                List<Double> values = values(row, states, state);
                List<Double> references = values(reference, states, state);
                if (!values.isEmpty() && !references.isEmpty()) {
                    ratios.add(Statistics.of(values).median()
                            / Statistics.of(references).median());
                }
            }
        }
        if (ratios.isEmpty()) {
            ratios = ratiosWithinRepetitions(row, reference);
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

    private List<Double> ratiosWithinRepetitions(Row row, Row reference) {
        List<Double> ratios = new ArrayList<>();
        of(row.experiment()).forEach((repetition, values) -> {
            Map<String, Double> references = of(reference.experiment()).getOrDefault(repetition, Map.of());
            Double value = values.get(row.figure());
            Double referenceValue = references.get(reference.figure());
            if (value != null && referenceValue != null && Double.isFinite(value / referenceValue)) {
                ratios.add(value / referenceValue);
            }
        });
        return ratios;
    }

    /** Returns the ratio or figure to compare with an aim; empty if it was not measured. */
    public Optional<Double> reached(Row row, Aim aim, Map<String, Row> rows) {
        if (aim.against() == null) {
            return statistics(row).map(Statistics::median);
        }
        Row reference = rows.get(aim.against());
        return reference == null ? Optional.empty() : ratio(row, reference).map(Statistics::median);
    }
}
