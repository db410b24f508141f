package io.rdma4j.bench.worker;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Histograms of times in nanoseconds. */
public final class Latencies {
    /** Percentiles differ from the exact ones by at most 1 in 1000. */
    private static final int SIGNIFICANT_DIGITS = 3;

    private Latencies() {}

    /**
     * Returns an empty histogram of times up to an hour, longer than any measurement. It has its final size, so that
     * recording a time allocates nothing.
     */
    public static Histogram create() {
        return new Histogram(TimeUnit.HOURS.toNanos(1), SIGNIFICANT_DIGITS);
    }
}
