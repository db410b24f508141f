package io.rdma4j.tools.cmtime;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** Records when each step of one connection, or of all connections together, started and ended. Thread safe. */
final class Stopwatch<S extends Enum<S>> {
    private static final int NOT_YET = 0;

    private static final class Interval {
        volatile long began = NOT_YET;
        volatile long ended = NOT_YET;
    }

    private final Map<S, Interval> intervals;

    /** Creates a stopwatch for the steps of an enumeration. */
    Stopwatch(Class<S> steps) {
        // Filled here and never modified afterwards, so that threads may read it without synchronization.
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

    /** Ends a step that started at a value of {@link System#nanoTime}. */
    void endOf(S step, long beganNanos) {
        of(step).began = beganNanos | 1;
        end(step);
    }

    /** Returns the current time, never {@link #NOT_YET}. An error of a nanosecond is irrelevant. */
    private static long now() {
        return System.nanoTime() | 1;
    }

    /** Returns whether the step has started and ended. */
    boolean has(S step) {
        Interval interval = of(step);
        return interval.began != NOT_YET && interval.ended != NOT_YET;
    }

    /** Returns the duration of the step, or 0 if it has not started and ended. */
    long nanos(S step) {
        return has(step) ? of(step).ended - of(step).began : 0;
    }
}
