package io.rdma4j.bench.report;

import java.util.Arrays;
import java.util.List;

/**
 * The statistics of a figure over its repetitions.
 *
 * @param count number of values, at least 1
 * @param minimum the smallest value
 * @param median the median; for an even number the mean of the two middle values
 * @param maximum the greatest value
 */
public record Statistics(int count, double minimum, double median, double maximum) {
    /**
     * Computes the statistics of some values.
     *
     * @throws IllegalArgumentException if there are none
     */
    public static Statistics of(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("no values");
        }
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Statistics(sorted.length, sorted[0], median, sorted[sorted.length - 1]);
    }
}
