package io.rdma4j.hardware.device;

import java.util.concurrent.atomic.AtomicBoolean;

/** Serialises calls of some ten nanoseconds. Not reentrant. */
final class SpinLock {
    private static final int SPINS_BEFORE_YIELD = 100;

    private final AtomicBoolean held = new AtomicBoolean();

    void lock() {
        if (!held.compareAndSet(false, true)) {
            lockLater();
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // a hint that does not affect correctness
    private void lockLater() {
        int spins = 0;
        while (held.get() || !held.compareAndSet(false, true)) {
            if (++spins < SPINS_BEFORE_YIELD) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    void unlock() {
        held.setRelease(false);
    }
}
