package io.rdma4j.tools.cmtime;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** When each step of one connection, or of all together, began and ended. Thread safe. */
final class Stopwatch<S extends Enum<S>> {
    private static final int NOT_YET = 0;

    private static final class Interval {
        volatile long began = NOT_YET;
        volatile long ended = NOT_YET;
    }

    private final Map<S, Interval> intervals;

    /** Creates a stopwatch for the steps of an enumeration. */
    Stopwatch(Class<S> steps) {
        // Filled at once and not changed afterwards: threads only look things up.
        intervals = new EnumMap<>(steps);
        for (S step : steps.getEnumConstants()) {
            intervals.put(step, new Interval());
        }
    }

    private Interval of(S step) {
        return Objects.requireNonNull(intervals.get(step));
    }

    void start(S step) {
        of(step).began = now();
    }

    void end(S step) {
        of(step).ended = now();
    }

    /** A step that began at a {@link System#nanoTime} ends. */
    void endOf(S step, long beganNanos) {
        of(step).began = beganNanos | 1;
        end(step);
    }

    /** Never {@link #NOT_YET}; a nanosecond is nothing here. */
    private static long now() {
        return System.nanoTime() | 1;
    }

    /** Whether the step has begun and ended. */
    boolean has(S step) {
        Interval interval = of(step);
        return interval.began != NOT_YET && interval.ended != NOT_YET;
    }

    /** How long the step took, 0 if it has not begun and ended. */
    long nanos(S step) {
        return has(step) ? of(step).ended - of(step).began : 0;
    }
}
