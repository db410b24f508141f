package io.rdma4j.bench.worker;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** The results of a measurement by name. The constants are the names, which contain the units. Not thread safe. */
public final class Figures {
    /** Median in microseconds; {@link #percentileName} gives the names of other percentiles. */
    public static final String P50_MICROS = "p50Micros";

    /** Mean in microseconds. */
    public static final String MEAN_MICROS = "meanMicros";

    /** 99th percentile. */
    public static final String P99_MICROS = "p99Micros";

    /** Median of round-trip times, for measurements whose other figures are one-way times. */
    public static final String ROUND_TRIP_P50_MICROS = "roundTrip.p50Micros";

    /** 99th percentile of round-trip times, for measurements whose other figures are one-way times. */
    public static final String ROUND_TRIP_P99_MICROS = "roundTrip.p99Micros";

    /** Payload in 10⁹ bytes per second, counted at the receiver or by the requester's completions. */
    public static final String GIGABYTES_PER_SECOND = "gigabytesPerSecond";

    /** Messages or packets in 10⁶ per second, counted at the receiver or by the requester's completions. */
    public static final String MILLIONS_PER_SECOND = "millionsPerSecond";

    /** Processor time of both processes per 10⁹ bytes, in seconds. */
    public static final String CPU_SECONDS_PER_GIGABYTE = "cpuSecondsPerGigabyte";

    /** Heap bytes that both processes allocate per message. */
    public static final String ALLOCATED_BYTES_PER_MESSAGE = "allocatedBytesPerMessage";

    /** Connections established per second. */
    public static final String CONNECTIONS_PER_SECOND = "connectionsPerSecond";

    /** Memory of a connection at each side, in bytes. */
    public static final String BYTES_PER_CONNECTION = "bytesPerConnection";

    /** Number of processors used; 1 is a whole one. */
    public static final String CPU_SHARE = "cpuShare";

    /** Number of threads. */
    public static final String THREADS = "threads";

    /** Run time of a process in seconds. */
    public static final String SECONDS = "seconds";

    /** 1 if the compilers were still working when the measurement started, otherwise 0. */
    public static final String STILL_COMPILING = "stillCompiling";

    private final Map<String, Double> values = new LinkedHashMap<>();

    /** Creates an empty set. */
    public Figures() {}

    /**
     * Returns the figures that {@link #toString} wrote.
     *
     * @throws IllegalArgumentException if the text has another form
     */
    public static Figures parse(String text) {
        Figures figures = new Figures();
        Parameters.parse(text.isEmpty() ? List.of() : List.of(text.split(" ", -1)))
                .forEach((name, value) -> figures.add(name, Double.parseDouble(value)));
        return figures;
    }

    /** Adds a figure. */
    public Figures add(String name, double value) {
        values.put(name, value);
        return this;
    }

    /**
     * Adds the percentiles of times in nanoseconds, each multiplied by {@code factor}: 0.5 converts round trips to
     * one-way times.
     */
    public Figures addLatency(Histogram times, double factor) {
        if (times.getTotalCount() == 0) {
            throw new IllegalStateException("nothing was measured");
        }
        double[] percents = {0, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100};
        for (double percent : percents) {
            add(percentileName(percent), times.getValueAtPercentile(percent) * factor / 1000);
        }
        return add("samples", (double) times.getTotalCount());
    }

    /** Returns the name of a figure of one of the first seconds of a process: {@code second2.gigabytesPerSecond}. */
    public static String ofSecond(int second, String figure) {
        return "second" + second + "." + figure;
    }

    /** Returns the name of a percentile in microseconds: {@code p99.9Micros}. */
    public static String percentileName(double percent) {
        String text = percent == Math.rint(percent) ? Long.toString(Math.round(percent)) : Double.toString(percent);
        return "p" + text + "Micros";
    }

    /** Returns all figures in the order in which they were added. */
    public Map<String, Double> values() {
        return values;
    }

    /** Returns the finite figures as text, {@code name=value name=value …}. */
    @Override
    public String toString() {
        return values.entrySet().stream()
                .filter(figure -> Double.isFinite(figure.getValue()))
                .map(figure -> figure.getKey() + "=" + figure.getValue())
                .collect(Collectors.joining(" "));
    }
}
