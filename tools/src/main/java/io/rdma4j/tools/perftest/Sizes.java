package io.rdma4j.tools.perftest;

/** The sizes of messages that a run goes through. */
final class Sizes {
    private Sizes() {}

    /** The one of {@code -s}; with {@code -a} all powers of two from 2 to the largest. */
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
