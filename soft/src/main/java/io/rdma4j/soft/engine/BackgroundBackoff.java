package io.rdma4j.soft.engine;

/**
 * The interval at which the background thread checks whether it has to drive the engine.
 *
 * <p>The interval starts at {@value #USUAL_NANOS} nanoseconds. While the thread is not needed, it grows to {@value
 * #LONGEST_NANOS}: each check takes the processor from a thread that polls, which costs tens of microseconds where
 * processors are slow to switch.
 *
 * <p>After a message of the connection manager, the next check comes soon. More messages will follow, and a thread that
 * waits for them at an event channel does not drive the engine. The interval then doubles up to the usual one.
 *
 * <p>One thread pauses and takes over. Any thread may call {@link #onManagementMessage}.
 */
final class BackgroundBackoff {
    /** The interval after a message of the connection manager. */
    static final long SHORTEST_NANOS = 50_000;

    static final long USUAL_NANOS = 1_500_000;

    static final long LONGEST_NANOS = 4_000_000;

    /** The divisor of the growth: from the usual interval to the longest takes about forty milliseconds. */
    private static final int GROWTH = 16;

    /** A thread that polled within this time, or within the interval if that is shorter, is expected to poll again. */
    private static final long POLLING_NANOS = 1_000_000;

    private volatile long pauseNanos = USUAL_NANOS;
    private volatile boolean pausing;

    /** Begins a pause, which {@link #end} must follow. Returns its duration. */
    long begin() {
        long pause = pauseNanos;
        pauseNanos = pause < USUAL_NANOS
                ? Math.min(2 * pause, USUAL_NANOS)
                : Math.min(pause + pause / GROWTH, LONGEST_NANOS);
        pausing = pause > SHORTEST_NANOS;
        return pause;
    }

    /** Ends the pause. */
    void end() {
        pausing = false;
    }

    /** Notes that the background thread drives the engine. Its next pause is at most the usual one. */
    void takeOver() {
        pauseNanos = Math.min(pauseNanos, USUAL_NANOS);
    }

    /**
     * Shortens the interval, because more messages are expected. Returns whether the current pause is longer than that.
     */
    boolean onManagementMessage() {
        pauseNanos = SHORTEST_NANOS;
        return pausing;
    }

    /** Returns whether a thread that last polled this long ago is expected to poll again. */
    boolean isPolling(long sincePollNanos) {
        return sincePollNanos < Math.min(pauseNanos, POLLING_NANOS);
    }
}
