package io.rdma4j.link.internal;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Decides when a wakeup needs the kernel: only if somebody is blocked, and only once per wait. Thread safe; one thread
 * at a time waits.
 *
 * <p>Every change is a read-modify-write, so that what a thread wrote before {@link #signal} is seen by the thread whose
 * {@link #beginWait} or {@link #endWait} takes the signal, even where the signal itself was already up.
 */
public final class WakeupGate {
    private static final int IDLE = 0;
    private static final int WAITING = 1;
    private static final int SIGNALLED = 2;

    private final AtomicInteger state = new AtomicInteger();

    /** Creates a gate without a signal. */
    public WakeupGate() {}

    /** Puts the signal up; returns whether a thread is blocked that the caller must now wake. */
    public boolean signal() {
        return state.getAndSet(SIGNALLED) == WAITING;
    }

    /** Announces that this thread will block; false if a signal is up, and the thread must not block. */
    public boolean beginWait() {
        return state.compareAndSet(IDLE, WAITING);
    }

    /** Takes the signal down after {@link #beginWait}, whatever that returned. */
    public void endWait() {
        state.getAndSet(IDLE);
    }
}
