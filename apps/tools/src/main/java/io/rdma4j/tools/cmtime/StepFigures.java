package io.rdma4j.tools.cmtime;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The measured times of a step.
 *
 * @param connections the number of connections of the run
 * @param timed the number of connections for which the step was timed
 * @param totalNanos from the start of the first connection to the end of the last
 * @param sumNanos the sum over all connections
 * @param maximumNanos the maximum of one connection, or 0 if there is none
 * @param minimumNanos the minimum of one connection, or 0 if there is none
 */
record StepFigures(int connections, int timed, long totalNanos, long sumNanos, long maximumNanos, long minimumNanos) {
    private static final long NANOS_PER_MICRO = 1000;

    /** Computes the figures of a step. */
    static <S extends Enum<S>> StepFigures of(S step, Stopwatch<S> all, Collection<Stopwatch<S>> each) {
        int timed = 0;
        long sum = 0;
        long maximum = 0;
        long minimum = Long.MAX_VALUE;
        for (Stopwatch<S> one : each) {
            if (one.has(step)) {
                long nanos = one.nanos(step);
                timed++;
                sum += nanos;
                maximum = Math.max(maximum, nanos);
                minimum = Math.min(minimum, nanos);
            }
        }
        return new StepFigures(each.size(), timed, all.nanos(step), sum, maximum, timed == 0 ? 0 : minimum);
    }

    /**
     * Returns the same figures without a sum. The sum is meaningless for a step that includes waiting for other
     * connections.
     */
    StepFigures withoutSum() {
        return new StepFigures(connections, timed, totalNanos, 0, maximumNanos, minimumNanos);
    }

    /** Formats a line of the mesh form's table. */
    String line(String step) {
        long total = totalNanos / NANOS_PER_MICRO;
        long sum = sumNanos / NANOS_PER_MICRO;
        return String.format(
                Locale.ROOT,
                "%-13s  %10d %10d %10d %10d %10d %10d",
                step,
                total / connections,
                total,
                sum / connections,
                sum,
                maximumNanos / NANOS_PER_MICRO,
                minimumNanos / NANOS_PER_MICRO);
    }

    /** Formats a line of the classic form's table. */
    String classicLine(String step) {
        return String.format(
                Locale.ROOT,
                "%-13s: %11.2f%11.2f%11.2f%11.2f",
                step,
                totalNanos / 1e6,
                maximumNanos / 1e6,
                minimumNanos / 1e3,
                totalNanos / 1e3 / connections);
    }

    /** Returns the figures for the JSON document. */
    Map<String, @Nullable Object> report(String step) {
        Map<String, @Nullable Object> figures = new LinkedHashMap<>();
        figures.put("step", step);
        figures.put("connections", timed);
        figures.put("totalMicros", totalNanos / 1e3);
        figures.put("sumMicros", sumNanos / 1e3);
        figures.put("maximumMicros", maximumNanos / 1e3);
        figures.put("minimumMicros", minimumNanos / 1e3);
        return figures;
    }
}
