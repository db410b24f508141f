package io.rdma4j.tools.perftest;

/**
 * The idle strategy of a thread that polls without success. It spins for as long as a response normally takes. After
 * that it yields the core between polls, possibly to the peer, and periodically signals that the peer must be checked.
 * Not thread safe.
 */
final class Spin {
    private static final long SPIN_NANOS = 50_000;
    private static final long CHECK_NANOS = 10_000_000L;

    private int polls;
    private long idleSinceNanos;
    private long checkedNanos = System.nanoTime();

    /**
     * Called after a poll without success. The interval between checks is measured by a clock, since a poll takes
     * milliseconds while other threads compete for the core.
     *
     * @return true if it is time to check the peer
     */
    @SuppressWarnings("ThreadPriorityCheck") // only a hint: correctness does not depend on the scheduler
    boolean idle() {
        if (polls++ == 0) {
            idleSinceNanos = System.nanoTime();
            return false;
        }
        long now = System.nanoTime();
        if (now - idleSinceNanos < SPIN_NANOS) {
            Thread.onSpinWait();
            return false;
        }
        Thread.yield();
        boolean isDue = now - checkedNanos > CHECK_NANOS;
        if (isDue) {
            checkedNanos = now;
        }
        return isDue;
    }

    /** Spins again, after a successful poll. */
    void reset() {
        polls = 0;
    }
}
