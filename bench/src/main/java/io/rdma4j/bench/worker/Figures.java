package io.rdma4j.bench.worker;

import java.util.LinkedHashMap;
import java.util.Map;

/** What was measured, by name. The names are constants here; their units are in them. Not thread safe. */
public final class Figures {
    /** Median, and the names of other percentiles, all in microseconds. */
    public static final String P50_MICROS = "p50Micros";

    /** 99th percentile. */
    public static final String P99_MICROS = "p99Micros";

    /** Median of round trips, where the other figures are of one way. */
    public static final String ROUND_TRIP_P50_MICROS = "roundTrip.p50Micros";

    /** 99th percentile of round trips, where the other figures are of one way. */
    public static final String ROUND_TRIP_P99_MICROS = "roundTrip.p99Micros";

    /** Payload in 10⁹ bytes a second, counted where it arrives. */
    public static final String GIGABYTES_PER_SECOND = "gigabytesPerSecond";

    /** Messages, or packets, in 10⁶ a second, counted where they arrive. */
    public static final String MILLIONS_PER_SECOND = "millionsPerSecond";

    /** Seconds of processor time of both processes for 10⁹ bytes. */
    public static final String CPU_SECONDS_PER_GIGABYTE = "cpuSecondsPerGigabyte";

    /** Bytes on the heap that both processes have allocated for one message. */
    public static final String ALLOCATED_BYTES_PER_MESSAGE = "allocatedBytesPerMessage";

    /** Connections made in a second. */
    public static final String CONNECTIONS_PER_SECOND = "connectionsPerSecond";

    /** Bytes of memory that a connection costs each side. */
    public static final String BYTES_PER_CONNECTION = "bytesPerConnection";

    /** Part of one processor that is used, 1 is a whole one. */
    public static final String CPU_SHARE = "cpuShare";

    /** Threads that run. */
    public static final String THREADS = "threads";

    /** Seconds from start to end of a process. */
    public static final String SECONDS = "seconds";

    private final Map<String, Double> values = new LinkedHashMap<>();

    /** Creates an empty set. */
    public Figures() {}

    /** Adds a figure. */
    public Figures add(String name, double value) {
        values.put(name, value);
        return this;
    }

    /** Adds the percentiles of times, each multiplied by {@code factor}: 0.5 makes one way of a round trip. */
    public Figures addLatency(LatencySamples samples, double factor) {
        if (samples.count() == 0) {
            throw new IllegalStateException("nothing was measured");
        }
        double[] percents = {0, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100};
        for (double percent : percents) {
            add(percentileName(percent), samples.percentileNanos(percent) * factor / 1000);
        }
        return add("samples", samples.count());
    }

    /** Name of a percentile in microseconds: {@code p99.9Micros}. */
    public static String percentileName(double percent) {
        String text = percent == Math.rint(percent) ? Long.toString(Math.round(percent)) : Double.toString(percent);
        return "p" + text + "Micros";
    }

    /** All, in the order in which they came. */
    public Map<String, Double> values() {
        return values;
    }
}
