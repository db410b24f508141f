package io.rdma4j.link.internal;

/** Ranges of queue pair numbers, which have 24 bits. */
public final class QueuePairRanges {
    private static final int LARGEST = 0xffffff;

    private QueuePairRanges() {}

    /**
     * Requires that {@code from} to {@code to}, both included, is a range of queue pair numbers.
     *
     * @throws IllegalArgumentException if it is not
     */
    public static void require(int from, int to) {
        if (from < 0 || to > LARGEST || from > to) {
            throw new IllegalArgumentException("queue pair numbers " + describe(from, to)
                    + ": a range begins at 0 or later, ends at 0xffffff or before, and not before it begins");
        }
    }

    /** A range in words. */
    public static String describe(int from, int to) {
        return "0x" + Integer.toHexString(from) + " to 0x" + Integer.toHexString(to);
    }
}
