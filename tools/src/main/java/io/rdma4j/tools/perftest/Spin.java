package io.rdma4j.tools.perftest;

/**
 * What a thread does that polls in vain: it keeps its core for as long as any answer takes, and after that lets others have
 * it in between, one of which may be the peer, and looks now and then whether that is still there. Not thread safe.
 */
final class Spin {
    private static final int POLLS_BEFORE_YIELD = 2000;
    private static final long LOOK_NANOS = 10_000_000L;

    private int polls;
    private long lookedNanos = System.nanoTime();

    /**
     * Nothing has come. The looks are told by a clock: where others want the core, too, a poll may take milliseconds.
     *
     * @return whether it is time to look after the peer
     */
    @SuppressWarnings("ThreadPriorityCheck") // a hint is all that is wanted: nothing depends on who runs next
    boolean once() {
        if (polls < POLLS_BEFORE_YIELD) {
            polls++;
            Thread.onSpinWait();
            return false;
        }
        Thread.yield();
        long now = System.nanoTime();
        boolean isTime = now - lookedNanos > LOOK_NANOS;
        if (isTime) {
            lookedNanos = now;
        }
        return isTime;
    }

    /** Something has come. */
    void reset() {
        polls = 0;
    }
}
