package io.rdma4j.soft.engine;

/**
 * Decides how long a waiting thread polls before it blocks in the kernel (decision 032).
 *
 * <p>The thread polls for {@value #SPIN_NANOS} nanoseconds if the previous wait was short, otherwise not at all. Blocking and
 * waking up takes longer than many responses, and a thread that is woken tens of thousands of times a second spends more time on
 * that than on polling.
 *
 * <p>After an unsuccessful spin the next wait blocks immediately, after another one the next three, then seven and so on, up to
 * {@value #MAX_SKIPPED}, until a spin succeeds. A process therefore loses little if its peer takes longer than a spin but not
 * longer than a short wait, or if the peer needs the same processor.
 *
 * <p>Used by one thread at a time.
 */
final class AdaptiveSpin {
    /** The duration of a spin: about the time that a virtual machine's processor needs to wake. */
    static final long SPIN_NANOS = 50_000;

    /** The maximum duration of a short wait, in which both ends may have blocked. */
    static final long SHORT_NANOS = 200_000;

    /** The maximum number of waits without a spin after unsuccessful spins. */
    static final int MAX_SKIPPED = 63;

    private boolean wasLastShort;
    private boolean spins;
    private int skipsAfterFailure;
    private int remainingSkips;

    /** Starts a wait; {@link #end} must follow. Returns how long to poll before blocking, or 0. */
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
