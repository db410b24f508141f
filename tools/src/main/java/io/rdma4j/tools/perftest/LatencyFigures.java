package io.rdma4j.tools.perftest;

import java.util.Arrays;

/**
 * What a table says of latencies, in microseconds. Between two posts lies one exchange; the two longest of a run are left
 * out, as perftest does.
 *
 * @param iterations operations posted
 * @param minimum shortest
 * @param maximum longest but two
 * @param typical median
 * @param average mean
 * @param deviation standard deviation
 * @param percentile99 99 of 100 are not longer
 * @param percentile999 999 of 1000 are not longer
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
    /** Exchanges that are left out at the long end. */
    static final int TAIL = 2;

    /**
     * How long each exchange took, in microseconds and in order.
     *
     * @param postedNanos when each operation was posted
     * @param ways 2 if an exchange is a message each way, 1 if it is measured whole
     */
    static double[] samples(long[] postedNanos, int ways) {
        double[] samples = new double[postedNanos.length - 1];
        for (int i = 0; i < samples.length; i++) {
            samples[i] = (postedNanos[i + 1] - postedNanos[i]) / 1e3 / ways;
        }
        return samples;
    }

    /** Computes from four samples or more. */
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
