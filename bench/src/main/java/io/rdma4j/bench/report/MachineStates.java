package io.rdma4j.bench.report;

import java.util.Collection;
import java.util.DoubleSummaryStatistics;
import java.util.Map;

/**
 * Which of two machines a repetition was measured on. A virtual machine may be two in turn, for seconds or minutes each: one
 * whose processors share a cache, and one whose processors are far from each other, on which whatever two processes exchange
 * takes up to twice as long. They are told apart by the time that a line of cache takes from one processor to the other and
 * back, measured before and after each experiment.
 */
public final class MachineStates {
    /** Figure of an experiment: the distance of two processors before it, in nanoseconds there and back. */
    public static final String BEFORE = "processorDistanceBeforeNanos";

    /** The same after it. */
    public static final String AFTER = "processorDistanceAfterNanos";

    /** So many times as far apart is another machine. */
    private static final double OTHER_MACHINE = 2;

    /** What a repetition was measured on. */
    enum State {
        /** The machine does not change, or its processors were near each other. */
        NEAR,
        /** They were far from each other. */
        FAR,
        /** It changed meanwhile, as far as one knows. */
        MIXED
    }

    private final DoubleSummaryStatistics distances = new DoubleSummaryStatistics();

    /** States as the figures of all repetitions tell. */
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

    /** Whether the machine was two in turn. */
    boolean change() {
        return distances.getCount() > 0 && hasChanged(distances.getMin(), distances.getMax());
    }

    /** The state of a repetition with these figures. */
    State of(Map<String, Double> figures) {
        if (!change()) {
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

    /** Whether the machine was another one after an experiment than before. */
    public static boolean hasChanged(double beforeNanos, double afterNanos) {
        return Math.max(beforeNanos, afterNanos) > OTHER_MACHINE * Math.min(beforeNanos, afterNanos);
    }

    /** For the head of a table: the least and the greatest distance; empty where none was measured. */
    String describe() {
        if (distances.getCount() == 0) {
            return "";
        }
        String range = String.format("%.0f to %.0f ns", distances.getMin(), distances.getMax());
        return change() ? range + ": two machines in turn; ratios are of the same one" : range;
    }
}
