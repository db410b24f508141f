package io.rdma4j.tools.perftest;

/**
 * One row of a bandwidth table.
 *
 * @param sizeBytes the size of a message
 * @param iterations the number of messages counted
 * @param peak the highest bandwidth of any interval in MiB/s or Gbit/s, 0 if not measured
 * @param average the bandwidth of the whole run, in the same unit
 * @param messageRate the message rate, in millions per second
 */
record BandwidthFigures(long sizeBytes, long iterations, double peak, double average, double messageRate) {
    private static final double MIB = 1 << 20;
    private static final double GIGABIT_BYTES = 125e6;

    /**
     * Computes the figures of a run.
     *
     * @param directions 2 if each counted operation also represents one of the peer's, otherwise 1
     */
    static BandwidthFigures of(BandwidthSamples samples, Settings settings, long sizeBytes, int directions) {
        double unit = settings.gigabits ? GIGABIT_BYTES : MIB;
        double bytes = (double) sizeBytes * directions;
        double seconds = Math.max(1, samples.elapsedNanos()) / 1e9;
        double peakNanos = samples.shortestNanos(settings.postList, settings.moderation);
        return new BandwidthFigures(
                sizeBytes,
                samples.count(),
                peakNanos > 0 ? bytes * 1e9 / peakNanos / unit : 0,
                bytes * samples.count() / seconds / unit,
                samples.count() * directions / seconds / 1e6);
    }

    /** Returns the sum of both directions. */
    BandwidthFigures plus(BandwidthFigures other) {
        return new BandwidthFigures(
                sizeBytes, iterations, peak + other.peak, average + other.average, messageRate + other.messageRate);
    }
}
