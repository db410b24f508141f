package io.rdma4j.soft.engine;

/**
 * Decides how long a waiting thread polls before it blocks in the kernel.
 *
 * <p>The thread polls for {@value #SPIN_NANOS} nanoseconds if the previous wait was short, else not at all. Blocking
 * and being woken takes longer than many responses do, and a thread that is woken tens of thousands of times a second
 * spends more on that than on polling.
 *
 * <p>An unsuccessful spin is not repeated at once: the next wait, then the next three, seven and so on, up to {@value
 * #MAX_SKIPPED}, block immediately, until a spin succeeds. So a process loses little if its peer takes longer than a
 * spin but not longer than a short wait, or if the peer needs the same processor.
 *
 * <p>Used by one thread at a time.
 */
final class AdaptiveSpin {
    /** The duration of a spin: about what a virtual machine's processor needs to wake. */
    static final long SPIN_NANOS = 50_000;

    /** The longest duration of a short wait: both ends may have blocked in it. */
    static final long SHORT_NANOS = 200_000;

    /** The most waits without a spin after unsuccessful spins. */
    static final int MAX_SKIPPED = 63;

    private boolean wasLastShort;
    private boolean spins;
    private int skipsAfterFailure;
    private int remainingSkips;

    /** Begins a wait, which {@link #end} must follow. Returns how long to poll before blocking, or 0. */
    long begin() {
        spins = wasLastShort && remainingSkips == 0;
        if (remainingSkips > 0) {
            remainingSkips--;
        }
        return spins ? SPIN_NANOS : 0;
    }

    /**
     * Ends the wait.
     *
     * @param waitedNanos the duration of the wait, polling and blocked
     * @param found true if the spin found the input that ended the wait
     */
    void end(long waitedNanos, boolean found) {
        wasLastShort = waitedNanos <= SHORT_NANOS;
        if (spins) {
            skipsAfterFailure = found ? 0 : Math.min(2 * skipsAfterFailure + 1, MAX_SKIPPED);
            remainingSkips = skipsAfterFailure;
        }
    }
}
