package io.rdma4j.verbs.spi;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock for short sections that never block, such as posting requests, which may send. A thread that waits longer
 * yields its processor. The lock is not reentrant, does not park, and allocates nothing.
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

    /** Creates a free lock. */
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
                // The holder has lost its processor: yield this processor to it.
                Thread.yield();
            }
        }
    }

    /** Releases the lock. */
    public void unlock() {
        HELD.setRelease(this, 0);
    }
}
