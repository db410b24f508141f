package io.rdma4j.soft.engine;

/**
 * The interval at which the background thread checks whether it has to drive the engine. Used by that thread.
 *
 * <p>The interval starts at {@value #USUAL_NANOS} nanoseconds. While the thread is not needed, it grows to {@value
 * #LONGEST_NANOS}: each check takes the processor from a thread that polls, which costs tens of microseconds where
 * processors are slow to switch.
 */
final class BackgroundBackoff {
    static final long USUAL_NANOS = 1_500_000;

    static final long LONGEST_NANOS = 4_000_000;

    /** The divisor of the growth: the interval reaches its maximum within about forty milliseconds. */
    private static final int GROWTH = 16;

    /** A thread that polled within this time is expected to poll again. */
    static final long POLLING_NANOS = 1_000_000;

    private long pauseNanos = USUAL_NANOS;

    /** Returns the duration of the next pause. */
    long next() {
        long pause = pauseNanos;
        pauseNanos = Math.min(pause + pause / GROWTH, LONGEST_NANOS);
        return pause;
    }

    /** Notes that the background thread drives the engine, or makes another thread drive it. The next pause is the usual one. */
    void takeOver() {
        pauseNanos = USUAL_NANOS;
    }

    /** Returns whether a thread that last polled this long ago is expected to poll again. */
    static boolean isPolling(long sincePollNanos) {
        return sincePollNanos < POLLING_NANOS;
    }
}
