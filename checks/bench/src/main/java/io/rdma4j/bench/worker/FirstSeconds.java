package io.rdma4j.bench.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.DoubleUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The first seconds of a process, each of which a measurement reports separately.
 *
 * <p>The seconds count from the start of the process, so that the first one contains the start of the Java virtual
 * machine and the set-up of the connection. A measurement with the parameter {@code firstSeconds} has no warm-up. Not
 * thread safe.
 */
final class FirstSeconds {
    private static final long SECOND_NANOS = 1_000_000_000L;

    private final long startNanos;
    private final int count;
    private final Map<String, Double> figures = new LinkedHashMap<>();
    private int second = 1;
    private long beginNanos;
    private double units;

    /**
     * Creates a record of the seconds after a time.
     *
     * @param startNanos the start of the process, on the scale of {@link System#nanoTime}
     * @param count number of seconds
     */
    FirstSeconds(long startNanos, int count) {
        this.startNanos = startNanos;
        this.count = count;
        beginNanos = startNanos;
    }

    /** Returns the seconds of this process, or null if the parameters do not request them. */
    static @Nullable FirstSeconds of(Parameters parameters) {
        int count = parameters.number("firstSeconds", 0);
        return count == 0 ? null : new FirstSeconds(processStartNanos(), count);
    }

    private static long processStartNanos() {
        Instant start = ProcessHandle.current().info().startInstant().orElseThrow();
        return System.nanoTime() - Duration.between(start, Instant.now()).toNanos();
    }

    /** Returns the time at which the current second ends. */
    long endNanos() {
        return startNanos + second * SECOND_NANOS;
    }

    /**
     * Ends the current second, and later ones that have also passed because slow code has called this late. They share
     * the rate over the whole time.
     *
     * @param now the time, at or after the end of the current second
     * @param total units since the start of the process: bytes or round trips
     * @param figure the name of the figure
     * @param ofRate computes the figure from units per nanosecond
     * @return false after the last second
     */
    boolean end(long now, double total, String figure, DoubleUnaryOperator ofRate) {
        double value = ofRate.applyAsDouble((total - units) / (now - beginNanos));
        units = total;
        beginNanos = now;
        while (second <= count && now >= endNanos()) {
            figures.put(Figures.ofSecond(second, figure), value);
            second++;
        }
        return second <= count;
    }

    /** Adds the figures of all seconds, each multiplied by {@code factor}. */
    void report(Figures all, double factor) {
        figures.forEach((name, value) -> all.add(name, value * factor));
    }
}
