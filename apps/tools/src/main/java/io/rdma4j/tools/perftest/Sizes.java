package io.rdma4j.tools.perftest;

/** The message sizes of a run. */
final class Sizes {
    private Sizes() {}

    /** Returns the size of {@code -s}, or with {@code -a} all powers of two from 2 to the largest. */
    static long[] of(Settings settings) {
        if (!settings.allSizes) {
            return new long[] {settings.sizeBytes};
        }
        long[] sizes = new long[Long.SIZE - 1 - Long.numberOfLeadingZeros(settings.sizeBytes)];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = 2L << i;
        }
        return sizes;
    }
}
