package io.rdma4j.link.internal;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Decides when a wakeup needs a system call: only if a thread is blocked, and only once per wait. Thread safe. One
 * thread waits at a time.
 *
 * <p>Every change is an atomic read-modify-write. Writes before {@link #signal} are therefore visible to the thread that observes
 * the signal in {@link #beginWait} or {@link #endWait}, even if the signal was already set.
 */
public final class WakeupGate {
    private static final int IDLE = 0;
    private static final int WAITING = 1;
    private static final int SIGNALLED = 2;

    private final AtomicInteger state = new AtomicInteger();

    /** Creates a gate with the signal cleared. */
    public WakeupGate() {}

    /** Sets the signal. Returns true if a thread is blocked that the caller must now wake. */
    public boolean signal() {
        return state.getAndSet(SIGNALLED) == WAITING;
    }

    /**
     * Reverts {@link #signal} after its caller could not wake the thread, because there was no memory for the call. The next
     * caller tries again.
     */
    public void onFailure() {
        boolean _ = state.compareAndSet(SIGNALLED, WAITING);
    }

    /**
     * Announces that this thread will block. Returns false if the signal is set, in which case the thread must not
     * block.
     */
    public boolean beginWait() {
        return state.compareAndSet(IDLE, WAITING);
    }

    /** Clears the signal after {@link #beginWait}, regardless of the latter's result. */
    public void endWait() {
        state.getAndSet(IDLE);
    }
}
