package io.rdma4j.tools.cmtime;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** How many connections have done each step, and whether the run has failed. Thread safe. */
final class StepCounts<S extends Enum<S>> {
    private final Map<S, Integer> done;
    private @Nullable S awaited;
    private int target;
    private long sinceNanos = System.nanoTime();
    private boolean failed;

    /** Creates a progress for the steps of an enumeration. */
    StepCounts(Class<S> steps) {
        done = new EnumMap<>(steps);
    }

    /** Begins anew, but for a failure. */
    synchronized void reset() {
        done.clear();
    }

    /** One more connection has done a step. */
    synchronized void done(S step) {
        int now = done.merge(step, 1, Integer::sum);
        sinceNanos = System.nanoTime();
        // Waking the waiting thread for every connection would be part of what is measured.
        if (step == awaited && now >= target) {
            notifyAll();
        }
    }

    /** How many connections have done a step. */
    synchronized int count(S step) {
        return done.getOrDefault(step, 0);
    }

    /** The run fails; {@code tell} is called for the first failure only: what follows is a consequence. */
    void fail(Runnable tell) {
        synchronized (this) {
            if (failed) {
                return;
            }
            failed = true;
            notifyAll();
        }
        tell.run();
    }

    synchronized void throwIfFailed() throws CmtimeFailure {
        if (failed) {
            throw new CmtimeFailure();
        }
    }

    /**
     * Waits until so many connections have done a step.
     *
     * @param patienceNanos how long nothing may happen meanwhile
     * @return false if nothing happened for too long
     * @throws CmtimeFailure if the run has failed
     */
    synchronized boolean await(S step, int count, long patienceNanos) throws CmtimeFailure {
        awaited = step;
        target = count;
        sinceNanos = System.nanoTime();
        while (count(step) < count) {
            throwIfFailed();
            long left = patienceNanos - (System.nanoTime() - sinceNanos);
            if (left <= 0) {
                return false;
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, TimeUnit.SECONDS.toNanos(1)) + 1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CmtimeFailure();
            }
        }
        throwIfFailed();
        return true;
    }
}
