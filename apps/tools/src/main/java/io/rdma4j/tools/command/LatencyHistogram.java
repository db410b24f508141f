package io.rdma4j.tools.command;

/**
 * A histogram of durations with a relative error of at most 1/64, so percentiles are exact to 1.6 percent.
 *
 * <p>Its memory is constant. Not thread safe.
 */
public final class LatencyHistogram {
    /** Each value below this has its own bucket. Every power of two above it has half as many buckets. */
    private static final int LINEAR = 128;

    private static final int HALF = LINEAR / 2;
    private static final int HALF_BITS = Integer.numberOfTrailingZeros(HALF);

    private final long[] counts = new long[LINEAR + (Long.SIZE - 1 - HALF_BITS) * HALF];
    private long count;
    private long maximum;
    private long minimum = Long.MAX_VALUE;

    /** Creates an empty histogram. */
    public LatencyHistogram() {}

    /** Records a duration in nanoseconds. A negative duration is recorded as 0. */
    public void record(long nanos) {
        long value = Math.max(0, nanos);
        counts[indexOf(value)]++;
        count++;
        maximum = Math.max(maximum, value);
        minimum = Math.min(minimum, value);
    }

    private static int indexOf(long value) {
        if (value < LINEAR) {
            return (int) value;
        }
        int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(value) - HALF_BITS;
        return (shift << HALF_BITS) + (int) (value >>> shift);
    }

    private static long highestOf(int index) {
        if (index < LINEAR) {
            return index;
        }
        int shift = (index >> HALF_BITS) - 1;
        return ((long) (index - (shift << HALF_BITS)) << shift) + (1L << shift) - 1;
    }

    /** Returns the number of durations. */
    public long count() {
        return count;
    }

    /** Returns the shortest duration in nanoseconds, or 0 if there are none. */
    public long minimumNanos() {
        return count == 0 ? 0 : minimum;
    }

    /** Returns the longest duration in nanoseconds, or 0 if there are none. */
    public long maximumNanos() {
        return maximum;
    }

    /**
     * Returns a duration that {@code percent} percent of all durations do not exceed.
     *
     * @param percent from 0 to 100
     * @return the duration in nanoseconds, or 0 if there are none
     */
    public long percentileNanos(double percent) {
        long rank = Math.max(1, (long) Math.ceil(percent / 100 * count));
        long cumulative = 0;
        for (int i = 0; i < counts.length; i++) {
            cumulative += counts[i];
            if (cumulative >= rank) {
                return Math.min(maximum, highestOf(i));
            }
        }
        return maximum;
    }
}
