package io.rdma4j.tools.perftest;

/**
 * What a table says of a bandwidth.
 *
 * @param sizeBytes of a message
 * @param iterations messages counted
 * @param peak most of any stretch, 0 if not measured; MiB or gigabits in a second
 * @param average of the whole run, in the same unit
 * @param messageRate million messages in a second
 */
record BandwidthFigures(long sizeBytes, long iterations, double peak, double average, double messageRate) {
    private static final double MIB = 1 << 20;
    private static final double GIGABIT_BYTES = 125e6;

    /**
     * Computes.
     *
     * @param ways 2 if each operation counted stands for one of the peer, too
     */
    static BandwidthFigures of(BandwidthSamples samples, Settings settings, long sizeBytes, int ways) {
        double unit = settings.gigabits ? GIGABIT_BYTES : MIB;
        double bytes = (double) sizeBytes * ways;
        double seconds = Math.max(1, samples.elapsedNanos()) / 1e9;
        double peakNanos = samples.shortestNanos(settings.postList, settings.moderation);
        return new BandwidthFigures(
                sizeBytes,
                samples.count(),
                peakNanos > 0 ? bytes * 1e9 / peakNanos / unit : 0,
                bytes * samples.count() / seconds / unit,
                samples.count() * ways / seconds / 1e6);
    }

    /** What both directions make together. */
    BandwidthFigures plus(BandwidthFigures other) {
        return new BandwidthFigures(
                sizeBytes, iterations, peak + other.peak, average + other.average, messageRate + other.messageRate);
    }
}
