package io.rdma4j.soft.engine;

/**
 * How long the background thread stands by between two looks whether it is needed: {@value #LONGEST_NANOS} nanoseconds in the
 * long run. After a message of the connection manager it looks again soon: another message will come, and who waits for it
 * waits at an event channel and drives nothing. Each pause is twice the one before, until there is such news again.
 *
 * <p>One thread pauses; any thread may bring news.
 */
final class Standby {
    /** The pause after news of connections. */
    static final long SHORTEST_NANOS = 50_000;

    static final long LONGEST_NANOS = 1_500_000;

    /** Someone who polled within this time is taken to poll on, or within the pause if that is shorter. */
    private static final long POLLING_NANOS = 1_000_000;

    private volatile long pauseNanos = LONGEST_NANOS;
    private volatile boolean pausing;

    /** A pause begins; {@link #end} follows. Returns how long it is to be. */
    long begin() {
        long pause = pauseNanos;
        pauseNanos = Math.min(2 * pause, LONGEST_NANOS);
        pausing = pause > SHORTEST_NANOS;
        return pause;
    }

    /** The pause is over. */
    void end() {
        pausing = false;
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
