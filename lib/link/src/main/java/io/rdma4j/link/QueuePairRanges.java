package io.rdma4j.link;

/** Ranges of queue pair numbers, which have 24 bits. */
public final class QueuePairRanges {
    private static final int LARGEST = 0xffffff;

    private QueuePairRanges() {}

    /**
     * Checks that {@code from} to {@code to}, both inclusive, is a range of queue pair numbers.
     *
     * @throws IllegalArgumentException if it is not
     */
    public static void require(int from, int to) {
        if (from < 0 || to > LARGEST || from > to) {
            throw new IllegalArgumentException("queue pair numbers " + describe(from, to)
                    + ": a range must lie within 0 to 0xffffff, and must not end before it starts");
        }
    }

    /** Returns a description of a range. */
    public static String describe(int from, int to) {
        return "0x" + Integer.toHexString(from) + " to 0x" + Integer.toHexString(to);
    }
}
