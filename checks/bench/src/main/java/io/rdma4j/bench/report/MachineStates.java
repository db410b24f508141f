package io.rdma4j.bench.report;

import java.util.Collection;
import java.util.DoubleSummaryStatistics;
import java.util.Map;

/**
 * Classifies the repetitions by the state of the machine in which they were measured.
 *
 * <p>A virtual machine may alternate between two states, for seconds or minutes each. In one state its processors share
 * a cache. In the other state they do not, and every exchange between two processes takes up to twice as long. The
 * states are distinguished by the round-trip time of a cache line between two processors, which is measured before and
 * after each experiment.
 */
public final class MachineStates {
    /** A figure of an experiment: the round-trip time between two processors before it, in nanoseconds. */
    public static final String BEFORE = "processorDistanceBeforeNanos";

    /** A figure of an experiment: the round-trip time between two processors after it, in nanoseconds. */
    public static final String AFTER = "processorDistanceAfterNanos";

    /** The ratio of round-trip times above which the state of the machine has changed. */
    private static final double CHANGE_RATIO = 2;

    /** The state of the machine during a repetition. */
    enum State {
        /** The processors were near each other, or the machine has only one state. */
        NEAR,
        /** The processors were far from each other. */
        FAR,
        /** The state changed during the repetition, or is unknown. */
        MIXED
    }

    private final DoubleSummaryStatistics distances = new DoubleSummaryStatistics();

    /** Creates the states from the figures of all repetitions. */
    MachineStates(Collection<Map<String, Double>> repetitions) {
        for (Map<String, Double> figures : repetitions) {
            for (String moment : new String[] {BEFORE, AFTER}) {
                double nanos = figures.getOrDefault(moment, Double.NaN);
                if (nanos > 0) {
                    distances.accept(nanos);
                }
            }
        }
    }

    /** Returns whether the machine has two states. */
    boolean hasTwoStates() {
        return distances.getCount() > 0 && hasChanged(distances.getMin(), distances.getMax());
    }

    /** Returns the state of a repetition with these figures. */
    State of(Map<String, Double> figures) {
        if (!hasTwoStates()) {
            return State.NEAR;
        }
        double boundary = Math.sqrt(distances.getMin() * distances.getMax());
        double before = figures.getOrDefault(BEFORE, Double.NaN);
        double after = figures.getOrDefault(AFTER, Double.NaN);
        if (before <= boundary && after <= boundary) {
            return State.NEAR;
        }
        return before > boundary && after > boundary ? State.FAR : State.MIXED;
    }

    /** Returns whether the state changed between two measurements. */
    public static boolean hasChanged(double beforeNanos, double afterNanos) {
        return Math.max(beforeNanos, afterNanos) > CHANGE_RATIO * Math.min(beforeNanos, afterNanos);
    }

    /** Returns the range of round-trip times, for the head of a table; empty if none was measured. */
    String describe() {
        if (distances.getCount() == 0) {
            return "";
        }
        String range = String.format("%.0f to %.0f ns", distances.getMin(), distances.getMax());
        return hasTwoStates() ? range + ": two states of the machine; ratios are within one state" : range;
    }
}
