package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;

/** A loop that posts one operation at a time. Not thread safe. */
abstract class LatencyLoop extends Loop {
    private final long[] posted;
    private long counted;

    LatencyLoop(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
        posted = new long[settings.timed ? 0 : (int) settings.iterations];
    }

    /** Runs the measurement with messages of the given size. */
    abstract void run(long sizeBytes) throws ToolFailure;

    final QueuePairRun queuePairRun() {
        return senders.getFirst();
    }

    /** Posts operation {@code index} after the gap of {@code --latency_gap}. */
    final void post(int index, boolean signaled) {
        if (settings.gapMicroseconds > 0) {
            long until = System.nanoTime() + settings.gapMicroseconds * 1000L;
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
        }
        if (posted.length > 0) {
            posted[index] = System.nanoTime();
        }
        queuePairRun().post(signaled);
    }

    /** Counts an exchange of a timed run within the measured interval. */
    final void count() {
        if (phases.isSampling()) {
            counted++;
        }
    }

    /** Returns the time at which each operation was posted. */
    final long[] postedNanos() {
        return posted;
    }

    /** Returns the number of exchanges within the measured interval. */
    final long counted() {
        return counted;
    }

    /** Returns the length of the measured interval. */
    final long elapsedNanos() {
        return phases.endNanos() - phases.startNanos();
    }
}
