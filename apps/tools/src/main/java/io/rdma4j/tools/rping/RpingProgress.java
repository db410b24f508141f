package io.rdma4j.tools.rping;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a connection: its state, and a count of signals that {@link #await} consumes one by one.
 *
 * <p>The thread that runs the pings processes the completions of the connection while it waits. The event thread also
 * updates the progress. {@link RpingState#DISCONNECTED} is final, and later events do not replace it. Thread safe, but
 * one thread waits.
 */
final class RpingProgress {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private RpingState state;
    private int signals;
    private @Nullable RpingCompletions completions;

    RpingProgress(RpingState state) {
        this.state = state;
    }

    /** Sets the completions to process during waits. */
    void process(RpingCompletions ofConnection) {
        lock.lock();
        try {
            completions = ofConnection;
        } finally {
            lock.unlock();
        }
    }

    RpingState state() {
        lock.lock();
        try {
            return state;
        } finally {
            lock.unlock();
        }
    }

    /** Changes the state without a signal. */
    void enter(RpingState next) {
        update(next, 0);
    }

    /** Signals the waiting thread without changing the state. */
    void signal() {
        update(null, 1);
    }

    /** Changes the state and signals the waiting thread. */
    void signal(RpingState next) {
        update(next, 1);
    }

    private void update(@Nullable RpingState next, int moreSignals) {
        RpingCompletions toWake;
        lock.lock();
        try {
            if (next != null && state != RpingState.DISCONNECTED) {
                state = next;
            }
            signals += moreSignals;
            changed.signalAll();
            toWake = completions;
        } finally {
            lock.unlock();
        }
        if (toWake != null) {
            toWake.wakeup();
        }
    }

    /** Waits for a signal, consumes it and returns the state. An interrupt is reported as {@link RpingState#ERROR}. */
    RpingState await() {
        boolean isSignaled = awaitUntil(() -> signals > 0, Long.MAX_VALUE);
        lock.lock();
        try {
            if (!isSignaled) {
                return RpingState.ERROR;
            }
            signals--;
            return state;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the state is {@code wanted}, but at most {@code timeoutNanos}. Consumes no signal. */
    void awaitState(RpingState wanted, long timeoutNanos) {
        boolean _ = awaitUntil(() -> state == wanted, timeoutNanos);
    }

    /** Processes completions until the last one, but for at most {@code timeoutNanos}. */
    void awaitLastCompletion(long timeoutNanos) {
        boolean _ = awaitUntil(() -> completions == null || completions.isOver(), timeoutNanos);
    }

    /**
     * Waits until a condition holds under the lock. Returns false after the timeout, or if the thread is interrupted.
     */
    private boolean awaitUntil(BooleanSupplier done, long timeoutNanos) {
        long begin = System.nanoTime();
        while (true) {
            RpingCompletions toProcess = null;
            long left = timeoutNanos;
            lock.lock();
            try {
                if (done.getAsBoolean()) {
                    return true;
                }
                left -= timeoutNanos == Long.MAX_VALUE ? 0 : System.nanoTime() - begin;
                if (left <= 0 || Thread.currentThread().isInterrupted()) {
                    return false;
                }
                toProcess = completions == null || completions.isOver() ? null : completions;
                if (toProcess == null) {
                    left = changed.awaitNanos(left);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                lock.unlock();
            }
            if (toProcess != null) {
                toProcess.processNext(left);
            }
        }
    }
}
