package io.rdma4j.verbs.spi;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock for short sections that never block: some dozen instructions, or the post of requests, which may send. A thread that waits for long
 * yields its processor. Not reentrant, does not park, allocates nothing.
 */
public final class SpinLock {
    private static final int SPINS_BEFORE_YIELD = 200;
    private static final VarHandle HELD;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(SpinLock.class, "held", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("UnusedVariable") // read and written through HELD
    private volatile int held;

    /** Creates a lock that is free. */
    public SpinLock() {}

    /** Takes the lock if it is free. */
    public boolean tryLock() {
        return (int) HELD.getOpaque(this) == 0 && HELD.compareAndSet(this, 0, 1);
    }

    /** Takes the lock. */
    @SuppressWarnings("ThreadPriorityCheck") // a hint that does not affect correctness
    public void lock() {
        int spins = 0;
        while (!tryLock()) {
            if (++spins < SPINS_BEFORE_YIELD) {
                Thread.onSpinWait();
            } else {
                // The holder has lost its processor: yield this one to it.
                Thread.yield();
            }
        }
    }

    /** Releases the lock. */
    public void unlock() {
        HELD.setRelease(this, 0);
    }
}
