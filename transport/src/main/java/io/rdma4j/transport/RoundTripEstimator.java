package io.rdma4j.transport;

/**
 * How long answers take, measured, and when to suspect that one will not come: the estimate of RFC 6298. Only the first
 * transmission of a packet is measured (Karn's rule). It never makes a peer be given up: what is sent again on suspicion is
 * no retry, and the time-out of the queue pair goes on.
 */
final class RoundTripEstimator {
    /** No suspicion earlier: a peer may gather acknowledgements, and its thread may have to wait for a processor. */
    static final long LEAST_NANOS = 250_000;

    /** What is suspected before anything was measured. */
    static final long FIRST_NANOS = 100_000_000;

    private static final long NONE = -1;
    private static final int MOST_DOUBLINGS = 16;

    private long smoothed = NONE;
    private long deviation;
    private long timedSequence = NONE;
    private long timedSince;
    private int doublings;

    /** Whether an answer was measured. */
    boolean isKnown() {
        return smoothed != NONE;
    }

    /** Forgets all. */
    void reset() {
        smoothed = NONE;
        timedSequence = NONE;
        doublings = 0;
    }

    /** A packet that asks for an answer leaves for the first time. */
    void onSent(long nowNanos, long sequence) {
        if (timedSequence == NONE) {
            timedSequence = sequence;
            timedSince = nowNanos;
        }
    }

    /** Everything before a sequence is answered. */
    void onAnswered(long nowNanos, long end) {
        doublings = 0;
        if (timedSequence != NONE && timedSequence < end) {
            timedSequence = NONE;
            take(nowNanos - timedSince);
        }
    }

    private void take(long nanos) {
        if (smoothed == NONE) {
            smoothed = nanos;
            deviation = nanos / 2;
        } else {
            deviation += (Math.abs(smoothed - nanos) - deviation) / 4;
            smoothed += (nanos - smoothed) / 8;
        }
    }

    /** Packets are sent again: what was being measured means nothing any more. */
    void onRepeated() {
        timedSequence = NONE;
    }

    /** The suspicion came to something: the next one takes twice as long. */
    void onSuspicion() {
        doublings = Math.min(doublings + 1, MOST_DOUBLINGS);
    }

    /** How long after the last progress an answer is missed. */
    long suspicionNanos() {
        long usual = smoothed == NONE ? FIRST_NANOS : Math.max(LEAST_NANOS, smoothed + 4 * deviation);
        return usual << doublings;
    }
}
