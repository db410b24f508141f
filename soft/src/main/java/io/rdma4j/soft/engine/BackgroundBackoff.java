package io.rdma4j.soft.engine;

/**
 * How long the background thread stands by between two looks whether it is needed: {@value #USUAL_NANOS} nanoseconds at
 * first. While it is not, its pauses grow to {@value #LONGEST_NANOS}: each look takes the processor from a thread that polls,
 * and costs that one tens of microseconds where processors are slow to switch.
 *
 * <p>After a message of the connection manager it looks again soon: another message will come, and who waits for it
 * waits at an event channel and drives nothing. Each pause is twice the one before then, up to the usual one.
 *
 * <p>One thread pauses and takes over; any thread may bring news.
 */
final class BackgroundBackoff {
    /** The pause after news of connections. */
    static final long SHORTEST_NANOS = 50_000;

    static final long USUAL_NANOS = 1_500_000;

    static final long LONGEST_NANOS = 4_000_000;

    /** From the usual pause to the longest it takes about forty milliseconds. */
    private static final int GROWTH = 16;

    /** Someone who polled within this time is taken to poll on, or within the pause if that is shorter. */
    private static final long POLLING_NANOS = 1_000_000;

    private volatile long pauseNanos = USUAL_NANOS;
    private volatile boolean pausing;

    /** A pause begins; {@link #end} follows. Returns how long it is to be. */
    long begin() {
        long pause = pauseNanos;
        pauseNanos = pause < USUAL_NANOS
                ? Math.min(2 * pause, USUAL_NANOS)
                : Math.min(pause + pause / GROWTH, LONGEST_NANOS);
        pausing = pause > SHORTEST_NANOS;
        return pause;
    }

    /** The pause is over. */
    void end() {
        pausing = false;
    }

    /** The background thread is needed: should it stand by again, it looks as often as at first. */
    void takeOver() {
        pauseNanos = Math.min(pauseNanos, USUAL_NANOS);
    }

    /** More messages are to be expected. Returns whether the pause that goes on is longer than it should be now. */
    boolean expect() {
        pauseNanos = SHORTEST_NANOS;
        return pausing;
    }

    /** Whether someone who last polled so long ago is taken to poll on. */
    boolean isPolling(long sincePollNanos) {
        return sincePollNanos < Math.min(pauseNanos, POLLING_NANOS);
    }
}
