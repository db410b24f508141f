package io.rdma4j.tools.rping;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How the threads that take events and completions tell the thread that pings how far a connection is: a state, and a
 * count of signals that {@link #await} uses up one by one. {@link RpingState#DISCONNECTED} is final: what arrives after it
 * does not hide it. Thread safe.
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

    /** Changes the state without waking anybody up. */
    void enter(RpingState next) {
        lock.lock();
        try {
            change(next);
        } finally {
            lock.unlock();
        }
    }

    /** Wakes the waiting thread up, in the state as it is. */
    void signal() {
        lock.lock();
        try {
            signals++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Changes the state and wakes the waiting thread up. */
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

    /** Waits for a signal, uses it up and returns the state. An interrupt counts as a failure of the connection. */
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

    /** Waits until the state is {@code wanted}, but no longer than {@code timeoutNanos}; uses no signal up. */
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
