package io.rdma4j.tools.perftest;

/** The times at which messages were posted and completed in a bandwidth test. Not thread safe. */
final class BandwidthSamples {
    private final long[] posted;
    private final long[] completed;
    private long startNanos;
    private long endNanos;
    private long count;

    /**
     * Allocates the samples.
     *
     * @param messages the number of messages to record individually to find the peak, or 0 to record none
     */
    BandwidthSamples(int messages) {
        posted = new long[messages];
        completed = new long[messages];
    }

    /** Returns whether the times of individual messages are recorded. */
    boolean hasPeak() {
        return posted.length > 0;
    }

    /** Starts the measurement. */
    void begin(long nowNanos) {
        startNanos = nowNanos;
    }

    /** Ends the measurement after the given number of messages. */
    void end(long nowNanos, long messages) {
        endNanos = nowNanos;
        count = messages;
    }

    /** Records that message {@code index} was posted. A recorded time is never 0, because 0 means unknown. */
    void onPost(long index, long nowNanos) {
        posted[(int) index] = nowNanos - startNanos + 1;
    }

    /** Records that the first {@code done} messages are complete. */
    void onDone(long done, long nowNanos) {
        completed[(int) Math.min(done, completed.length) - 1] = nowNanos - startNanos + 1;
    }

    long count() {
        return count;
    }

    long elapsedNanos() {
        return endNanos - startNanos;
    }

    /**
     * Returns the shortest time per message over any interval from a post to a completion.
     *
     * <p>Each pass finds the interval that is furthest below the shortest time so far (Dinkelbach's method). It ends
     * after a few passes, when there is no such interval. Comparing all intervals would take quadratic time.
     *
     * @return the time in nanoseconds, or 0 if it was not measured
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
     * Finds the interval that saves most time compared with {@code nanosPerMessage} for each message. Posts and
     * completions are in chronological order, so a post that is too late for one completion is a candidate for the
     * next.
     *
     * @return the time per message of that interval, or {@link Double#MAX_VALUE} if there is no interval
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

    /**
     * Returns the next message whose completion is signaled, always including the last, or {@code last + 1} if none.
     */
    private static int next(int to, int moderation, int last) {
        return to == last ? last + 1 : Math.min(to + moderation, last);
    }
}
