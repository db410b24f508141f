package io.rdma4j.transport;

/**
 * Estimates the round-trip time and the probe timeout (RFC 6298). Only first transmissions are measured (Karn's rule).
 * The estimate never fails a connection: a probe is not a retry, and the queue pair's timeout keeps running.
 */
final class RoundTripEstimator {
    /** Minimum probe timeout: a peer may coalesce acknowledgements, and its thread may have to wait for a processor. */
    static final long MIN_NANOS = 250_000;

    /** Probe timeout before the first measurement. */
    static final long INITIAL_NANOS = 100_000_000;

    private static final long NONE = -1;
    private static final int MAX_DOUBLINGS = 16;

    private long smoothed = NONE;
    private long deviation;
    private long timedSequence = NONE;
    private long timedSinceNanos;
    private int doublings;

    /** Returns whether a round-trip time has been measured. */
    boolean isKnown() {
        return smoothed != NONE;
    }

    /** Returns the smoothed round-trip time, 0 if none has been measured. */
    long smoothedNanos() {
        return isKnown() ? smoothed : 0;
    }

    /** Discards the estimate. */
    void reset() {
        smoothed = NONE;
        timedSequence = NONE;
        doublings = 0;
    }

    /** Notes the first transmission of a packet that requests a response. */
    void onSent(long nowNanos, long sequence) {
        if (timedSequence == NONE) {
            timedSequence = sequence;
            timedSinceNanos = nowNanos;
        }
    }

    /** Notes that everything before {@code end} has been answered. */
    void onAnswered(long nowNanos, long end) {
        doublings = 0;
        if (timedSequence != NONE && timedSequence < end) {
            timedSequence = NONE;
            addSample(nowNanos - timedSinceNanos);
        }
    }

    private void addSample(long nanos) {
        if (smoothed == NONE) {
            smoothed = nanos;
            deviation = nanos / 2;
        } else {
            deviation += (Math.abs(smoothed - nanos) - deviation) / 4;
            smoothed += (nanos - smoothed) / 8;
        }
    }

    /** Notes a retransmission, which invalidates the measurement in progress. */
    void onRetransmit() {
        timedSequence = NONE;
    }

    /** Notes that a probe was sent: doubles the next timeout. */
    void onProbe() {
        doublings = Math.min(doublings + 1, MAX_DOUBLINGS);
    }

    /** Returns the time without progress after which a probe is sent. */
    long probeTimeoutNanos() {
        long timeout = smoothed == NONE ? INITIAL_NANOS : Math.max(MIN_NANOS, smoothed + 4 * deviation);
        return timeout << doublings;
    }
}
