package io.rdma4j.bench.worker;

import java.util.Arrays;

/**
 * A set of times in nanoseconds, which keeps every value, so that percentiles are exact.
 *
 * <p>Times beyond the capacity are not recorded. Not thread safe.
 */
public final class LatencySamples {
    private final long[] nanos;
    private int count;
    private boolean sorted;

    /** Creates an empty set for {@code capacity} times. */
    public LatencySamples(int capacity) {
        nanos = new long[capacity];
    }

    /** Records a time. */
    public void add(long value) {
        if (count < nanos.length) {
            nanos[count++] = value;
            sorted = false;
        }
    }

    /** Discards all times. */
    public void clear() {
        count = 0;
    }

    /** Returns the number of times. */
    public int count() {
        return count;
    }

    /**
     * Returns a percentile: the smallest time that at least {@code percent} percent of the times do not exceed.
     *
     * @param percent 0 (the smallest) to 100 (the largest)
     * @throws IllegalStateException if there are no times
     */
    public long percentileNanos(double percent) {
        if (count == 0) {
            throw new IllegalStateException("no times were recorded");
        }
        if (!sorted) {
            Arrays.sort(nanos, 0, count);
            sorted = true;
        }
        int rank = (int) Math.ceil(percent / 100 * count);
        return nanos[Math.clamp(rank - 1L, 0, count - 1)];
    }
}
