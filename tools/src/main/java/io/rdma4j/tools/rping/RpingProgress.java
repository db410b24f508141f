package io.rdma4j.tools.rping;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The progress of a connection: its state, and a count of signals that {@link #await} consumes one by one.
 *
 * <p>The event and completion threads update it for the thread that runs the pings. {@link RpingState#DISCONNECTED} is
 * final, and later events do not replace it. Thread safe.
 */
final class RpingProgress {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private RpingState state;
    private int signals;

    RpingProgress(RpingState state) {
        this.state = state;
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
        lock.lock();
        try {
            change(next);
        } finally {
            lock.unlock();
        }
    }

    /** Signals the waiting thread without changing the state. */
    void signal() {
        lock.lock();
        try {
            signals++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Changes the state and signals the waiting thread. */
    void signal(RpingState next) {
        lock.lock();
        try {
            change(next);
            signals++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void change(RpingState next) {
        if (state != RpingState.DISCONNECTED) {
            state = next;
        }
    }

    /** Waits for a signal, consumes it and returns the state. An interrupt is reported as {@link RpingState#ERROR}. */
    RpingState await() {
        lock.lock();
        try {
            while (signals == 0) {
                changed.await();
            }
            signals--;
            return state;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return RpingState.ERROR;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the state is {@code wanted}, but at most {@code timeoutNanos}. Consumes no signal. */
    void awaitState(RpingState wanted, long timeoutNanos) {
        lock.lock();
        try {
            long remaining = timeoutNanos;
            while (state != wanted && remaining > 0) {
                remaining = changed.awaitNanos(remaining);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }
}
