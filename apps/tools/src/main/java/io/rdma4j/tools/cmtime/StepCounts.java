package io.rdma4j.tools.cmtime;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Counts the connections that have completed each step, and records whether the run has failed. Thread safe. */
final class StepCounts<S extends Enum<S>> {
    private static final long REPORT_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Map<S, Integer> done;
    private @Nullable S awaited;
    private int target;
    private long lastProgressNanos = System.nanoTime();
    private boolean failing;
    private boolean failed;

    /** Creates counts for the steps of an enumeration. */
    StepCounts(Class<S> steps) {
        done = new EnumMap<>(steps);
    }

    /** Resets the counts. A failure remains recorded. */
    synchronized void reset() {
        done.clear();
    }

    /** Counts a connection that has completed a step. */
    synchronized void done(S step) {
        int now = done.merge(step, 1, Integer::sum);
        lastProgressNanos = System.nanoTime();
        // Waking the waiting thread for every connection would distort the measurement.
        if (step == awaited && now >= target) {
            notifyAll();
        }
    }

    /** Returns the number of connections that have completed a step. */
    synchronized int count(S step) {
        return done.getOrDefault(step, 0);
    }

    /**
     * Marks the run as failed. Runs {@code report} for the first failure only, because later failures are its
     * consequences.
     *
     * <p>Threads that wait or also fail continue after the report, so that the process does not exit before the report
     * is printed.
     */
    void fail(Runnable report) {
        synchronized (this) {
            if (failing) {
                awaitReport();
                return;
            }
            failing = true;
        }
        try {
            report.run();
        } finally {
            synchronized (this) {
                failed = true;
                notifyAll();
            }
        }
    }

    /** Waits until the first failure has been reported, but at most one second. */
    private void awaitReport() {
        long end = System.nanoTime() + REPORT_WAIT_NANOS;
        try {
            for (long left = REPORT_WAIT_NANOS; !failed && left > 0; left = end - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left + 1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    synchronized void throwIfFailed() throws CmtimeFailure {
        if (failed) {
            throw new CmtimeFailure();
        }
    }

    /**
     * Waits until {@code count} connections have completed a step.
     *
     * @param idleTimeoutNanos the maximum time without progress
     * @return false on timeout
     * @throws CmtimeFailure if the run has failed
     */
    synchronized boolean await(S step, int count, long idleTimeoutNanos) throws CmtimeFailure {
        awaited = step;
        target = count;
        lastProgressNanos = System.nanoTime();
        while (count(step) < count) {
            throwIfFailed();
            long left = idleTimeoutNanos - (System.nanoTime() - lastProgressNanos);
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
