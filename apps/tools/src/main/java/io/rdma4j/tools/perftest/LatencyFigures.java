package io.rdma4j.tools.perftest;

import java.util.Arrays;

/**
 * One row of a latency table, in microseconds. There is one exchange between two posts. As in perftest, the averages
 * exclude the two longest exchanges of a run.
 *
 * @param iterations the number of operations posted
 * @param minimum the shortest exchange
 * @param maximum the second longest exchange
 * @param typical the median
 * @param average the mean
 * @param deviation the standard deviation
 * @param percentile99 the 99th percentile
 * @param percentile999 the 99.9th percentile
 */
record LatencyFigures(
        long iterations,
        double minimum,
        double maximum,
        double typical,
        double average,
        double deviation,
        double percentile99,
        double percentile999) {
    /** The number of longest exchanges that are excluded. */
    static final int TAIL = 2;

    /**
     * Returns the latency of each exchange in microseconds, in the order of the exchanges.
     *
     * @param postedNanos the time at which each operation was posted
     * @param directions 2 if an exchange is a message in each direction, 1 if the latency covers the whole exchange
     */
    static double[] samples(long[] postedNanos, int directions) {
        double[] samples = new double[postedNanos.length - 1];
        for (int i = 0; i < samples.length; i++) {
            samples[i] = (postedNanos[i + 1] - postedNanos[i]) / 1e3 / directions;
        }
        return samples;
    }

    /** Computes the figures from at least four samples. */
    static LatencyFigures of(double[] samples) {
        double[] sorted = samples.clone();
        Arrays.sort(sorted);
        int count = sorted.length - TAIL;
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += sorted[i];
        }
        double average = sum / count;
        double squares = 0;
        for (int i = 0; i < count; i++) {
            squares += (sorted[i] - average) * (sorted[i] - average);
        }
        return new LatencyFigures(
                samples.length + 1L,
                sorted[0],
                sorted[count],
                median(sorted, count),
                average,
                Math.sqrt(squares / count),
                sorted[(int) Math.ceil(count * 0.99)],
                sorted[(int) Math.ceil(count * 0.999)]);
    }

    private static double median(double[] sorted, int count) {
        return count % 2 == 0 ? (sorted[count / 2] + sorted[count / 2 - 1]) / 2 : sorted[count / 2];
    }
}
