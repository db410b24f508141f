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

    /**
     * The least time that a message took in any stretch from a post to a completion; 0 if that was not measured. Each round
     * finds, in one pass, the stretch that is furthest below the least time so far (Dinkelbach's method): the last
     * round finds none, and there are few, where looking at every stretch would take the square of the number of messages.
     */
    double shortestNanos(int postList, int moderation) {
        double shortest = Double.MAX_VALUE;
        double next = pass(0, postList, moderation);
        while (next < shortest) {
            shortest = next;
            next = pass(shortest, postList, moderation);
        }
        return shortest == Double.MAX_VALUE ? 0 : shortest;
    }

    /**
     * The time of a message in the stretch that saves most against a time for each message; {@link Double#MAX_VALUE} if
     * there is no stretch. Posts and completions are in the order of their times: a post that is too late for one
     * completion is looked at again for the next.
     */
    private double pass(double nanosPerMessage, int postList, int moderation) {
        int last = completed.length - 1;
        int post = 0;
        int best = -1;
        double bestStart = 0;
        double most = -Double.MAX_VALUE;
        double found = Double.MAX_VALUE;
        for (int to = Math.min(moderation - 1, last); to >= 0 && to <= last; to = next(to, moderation, last)) {
            for (; post <= to && posted[post] < completed[to]; post += postList) {
                double start = posted[post] - nanosPerMessage * post;
                if (posted[post] > 0 && (best < 0 || start > bestStart)) {
                    best = post;
                    bestStart = start;
                }
            }
            double saved = best < 0 ? most : bestStart - completed[to] + nanosPerMessage * (to + 1);
            if (completed[to] > 0 && saved > most) {
                most = saved;
                found = (completed[to] - posted[best]) / (double) (to - best + 1);
            }
        }
        return found;
    }

    /** The next message whose completion may be told, which the last one's always may; beyond the last if there is none. */
    private static int next(int to, int moderation, int last) {
        return to == last ? last + 1 : Math.min(to + moderation, last);
    }
}
