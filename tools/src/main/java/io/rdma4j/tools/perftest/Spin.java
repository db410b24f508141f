package io.rdma4j.tools.perftest;

/**
 * What a thread does that polls in vain: it keeps its core for as long as any answer takes, and after that lets others have
 * it in between, one of which may be the peer. Not thread safe.
 */
final class Spin {
    private static final int POLLS_BEFORE_YIELD = 2000;

    private int polls;

    /** Nothing has come. */
    @SuppressWarnings("ThreadPriorityCheck") // a hint is all that is wanted: nothing depends on who runs next
    void once() {
        if (polls < POLLS_BEFORE_YIELD) {
            polls++;
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }

    /** Something has come. */
    void reset() {
        polls = 0;
    }
}
