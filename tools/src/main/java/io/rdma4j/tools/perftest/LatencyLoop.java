package io.rdma4j.tools.perftest;

/** A loop that posts one operation after the other. Not thread safe. */
abstract class LatencyLoop extends Loop {
    private final long[] posted;
    private long counted;

    LatencyLoop(Settings settings, Resources resources, Completions sends, Completions receives) {
        super(settings, resources, sends, receives);
        posted = new long[settings.timed ? 0 : (int) settings.iterations];
    }

    /** Goes through a run with messages of a size. */
    abstract void run(long sizeBytes) throws PerftestFailure;

    final QueuePairRun queuePairRun() {
        return queuePairRuns.getFirst();
    }

    /** Posts operation {@code index} after the gap that was asked for. */
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

    /** Counts an exchange if the time has come. */
    final void count() {
        if (phases.isSampling()) {
            counted++;
        }
    }

    /** When each operation was posted. */
    final long[] postedNanos() {
        return posted;
    }

    /** Exchanges in the time that was measured. */
    final long counted() {
        return counted;
    }

    /** The time that was measured. */
    final long elapsedNanos() {
        return phases.endedNanos() - phases.beganNanos();
    }
}
