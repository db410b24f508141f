package io.rdma4j.soft.engine;

/**
 * How long a thread that waits looks for input before it sleeps in the kernel: {@value #LOOK_NANOS} nanoseconds if the wait
 * before was short, or else not at all. To sleep and be woken takes longer than many an answer; and who is woken tens of
 * thousands of times a second pays more for that than for looking.
 *
 * <p>A look in vain is not repeated at once: the next wait, the next three, then seven and so on, up to
 * {@value #MOST_SKIPPED}, sleep without one, until a look finds something. So a process loses little where its peer takes
 * longer than a look but not longer than a short wait, or where the peer needs this very processor.
 *
 * <p>Used by one thread at a time.
 */
final class AdaptiveSpin {
    /** How long a look lasts: about what a virtual machine's processor needs to wake. */
    static final long LOOK_NANOS = 50_000;

    /** A wait that took no longer than this was short: both ends may have slept. */
    static final long SHORT_NANOS = 200_000;

    /** Waits without a look after many looks in vain. */
    static final int MOST_SKIPPED = 63;

    private boolean isLastShort;
    private boolean looks;
    private int afterLastInVain;
    private int toSkip;

    /** A wait begins; {@link #end} follows. Returns how long to look before sleeping, 0 for not at all. */
    long begin() {
        looks = isLastShort && toSkip == 0;
        if (toSkip > 0) {
            toSkip--;
        }
        return looks ? LOOK_NANOS : 0;
    }

    /**
     * The wait is over.
     *
     * @param waitedNanos how long it took, looking and asleep
     * @param found whether its look has found what it ended with
     */
    void end(long waitedNanos, boolean found) {
        isLastShort = waitedNanos <= SHORT_NANOS;
        if (looks) {
            afterLastInVain = found ? 0 : Math.min(2 * afterLastInVain + 1, MOST_SKIPPED);
            toSkip = afterLastInVain;
        }
    }
}
