package io.rdma4j.tools.perftest;

/** When messages were posted and done, for a bandwidth. Not thread safe. */
final class BandwidthSamples {
    private final long[] posted;
    private final long[] completed;
    private long beganNanos;
    private long endedNanos;
    private long count;

    /**
     * Makes room.
     *
     * @param messages whose times are kept, for the peak; 0 for none
     */
    BandwidthSamples(int messages) {
        posted = new long[messages];
        completed = new long[messages];
    }

    /** Whether times of single messages are kept. */
    boolean hasPeak() {
        return posted.length > 0;
    }

    /** Begins to measure. */
    void begin(long nowNanos) {
        beganNanos = nowNanos;
    }

    /** Ends with so many messages. */
    void end(long nowNanos, long messages) {
        endedNanos = nowNanos;
        count = messages;
    }

    /** Message {@code index} goes. A time is never 0, which stands for none. */
    void onPost(long index, long nowNanos) {
        posted[(int) index] = nowNanos - beganNanos + 1;
    }

    /** All up to the {@code done}-th message are done. */
    void onDone(long done, long nowNanos) {
        completed[(int) Math.min(done, completed.length) - 1] = nowNanos - beganNanos + 1;
    }

    long count() {
        return count;
    }

    long elapsedNanos() {
        return endedNanos - beganNanos;
    }

    /** The least time that a message took in any stretch from a post to a completion; 0 if that was not measured. */
    double shortestNanos(int postList, int moderation) {
        double shortest = Double.MAX_VALUE;
        int last = completed.length - 1;
        for (int from = 0; from <= last; from += postList) {
            for (int to = firstDone(from, moderation); to <= last; to += moderation) {
                shortest = Math.min(shortest, stretch(from, to));
            }
            shortest = Math.min(shortest, stretch(from, last));
        }
        return shortest == Double.MAX_VALUE ? 0 : shortest;
    }

    private static int firstDone(int from, int moderation) {
        return (from + moderation) / moderation * moderation - 1;
    }

    private double stretch(int from, int to) {
        if (completed[to] == 0 || posted[from] == 0 || completed[to] <= posted[from]) {
            return Double.MAX_VALUE;
        }
        return (completed[to] - posted[from]) / (double) (to - from + 1);
    }
}
