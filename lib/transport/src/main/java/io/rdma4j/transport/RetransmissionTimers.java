package io.rdma4j.transport;

import io.rdma4j.wire.Timers;

/**
 * The timers of a requester and the retries that it has left.
 *
 * <p>The acknowledgement timeout runs while packets are in flight, and costs a retry. The probe timer is shorter and
 * costs none: it triggers a tail-loss probe (decision 017). The RNR timer runs after an RNR NAK, while nothing may be
 * sent.
 */
final class RetransmissionTimers {
    /**
     * Minimum silence that costs a retry, if the timeout permits: a software peer occasionally waits for a processor.
     */
    static final long MIN_SILENCE_NANOS = 50_000_000;

    /** A timeout of T may expire anywhere between T and this many times T (C9-141). */
    private static final int MAX_TIMEOUTS = 4;

    private static final long NEVER = QueuePairMachine.NEVER;

    private static final int UNLIMITED_RNR_RETRY = 7;

    /** Maximum RNR back-off beyond the delay that the peer requests. */
    private static final long MAX_EXTRA_BACK_OFF_NANOS = 4_000_000;

    /** Doublings of the shortest RNR delay, 10 µs, that exceed that limit. */
    private static final int MAX_BACK_OFF_DOUBLINGS = 9;

    private final RoundTripEstimator roundTrips = new RoundTripEstimator();

    private int retryCount;
    private int rnrRetry;
    private int retriesLeft;
    private int rnrRetriesLeft;

    /** Time without a response after which a retry is used; {@link #NEVER} disables the timer. */
    private long timeoutNanos;

    private boolean tailLossProbes;

    private long ackDeadline = NEVER;
    private long probeDeadline = NEVER;
    private long rnrDeadline = NEVER;

    /** Number of consecutive RNR back-offs. */
    private int rnrBackOffs;

    /**
     * Returns how long the peer may be silent before a retry is consumed. With tail-loss probes, which repair losses
     * earlier, the time need not be short.
     */
    static long retryTimeoutNanos(long timeoutNanos, boolean tailLossProbes) {
        boolean isShort = tailLossProbes && timeoutNanos < MIN_SILENCE_NANOS;
        return isShort ? Math.min(MIN_SILENCE_NANOS, MAX_TIMEOUTS * timeoutNanos) : timeoutNanos;
    }

    /** Starts with all timers stopped and nothing measured. */
    void start(RcQueuePair.SendParameters p) {
        change(p);
        rnrBackOffs = 0;
        roundTrips.reset();
        ackDeadline = NEVER;
        probeDeadline = NEVER;
        rnrDeadline = NEVER;
    }

    /** Applies parameters that may change while nothing is in flight. */
    void change(RcQueuePair.SendParameters p) {
        retryCount = p.retryCount();
        rnrRetry = p.rnrRetry();
        tailLossProbes = p.tailLossProbes();
        timeoutNanos = p.retryTimeoutNanos();
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
    }

    /** Returns the time of the next timer; {@link QueuePairMachine#NEVER} if none runs. */
    long deadlineNanos() {
        return Math.min(Math.min(ackDeadline, probeDeadline), rnrDeadline);
    }

    /** Returns whether tail-loss probes are sent. */
    boolean sendsProbes() {
        return tailLossProbes;
    }

    /** Returns whether a round-trip time has been measured. */
    boolean isRoundTripKnown() {
        return roundTrips.isKnown();
    }

    /** Returns the smoothed round-trip time, 0 if none has been measured. */
    long roundTripNanos() {
        return roundTrips.smoothedNanos();
    }

    // ---- acknowledgement timeout and tail-loss probe ----

    /** Returns whether the acknowledgement timeout has expired. */
    boolean isTimeoutOver(long nowNanos) {
        return nowNanos >= ackDeadline;
    }

    /** Returns whether the acknowledgement timeout or the probe timer has expired. */
    boolean isOver(long nowNanos) {
        return nowNanos >= ackDeadline || nowNanos >= probeDeadline;
    }

    /** Returns whether the probe timer has expired, and stops it if so. */
    boolean takeProbe(long nowNanos) {
        if (nowNanos < probeDeadline) {
            return false;
        }
        probeDeadline = NEVER;
        return true;
    }

    /** Notes that a packet was sent: starts the timers that do not run. */
    void onSent(long nowNanos) {
        if (ackDeadline == NEVER) {
            startTimeout(nowNanos);
        }
        if (probeDeadline == NEVER) {
            startProbeTimer(nowNanos);
        }
    }

    /** Starts the acknowledgement timeout and the probe timer again, because nothing was to be answered before. */
    void restart(long nowNanos) {
        startTimeout(nowNanos);
        startProbeTimer(nowNanos);
    }

    /** Notes the first transmission of a packet that requests a response. */
    void onResponseRequested(long nowNanos, long sequence) {
        roundTrips.onSent(nowNanos, sequence);
    }

    /**
     * Notes that everything before {@code end} is acknowledged: restores the retries and restarts the timers.
     *
     * @param isInFlight {@code true} if other packets are still in flight
     */
    void onAcknowledged(long nowNanos, long end, boolean isInFlight) {
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
        rnrDeadline = NEVER;
        rnrBackOffs = 0;
        roundTrips.onAnswered(nowNanos, end);
        if (isInFlight) {
            startTimeout(nowNanos);
            startProbeTimer(nowNanos);
        } else {
            ackDeadline = NEVER;
            probeDeadline = NEVER;
        }
    }

    private void startTimeout(long nowNanos) {
        ackDeadline = timeoutNanos == NEVER ? NEVER : nowNanos + timeoutNanos;
    }

    private void startProbeTimer(long nowNanos) {
        probeDeadline = tailLossProbes ? nowNanos + roundTrips.probeTimeoutNanos() : NEVER;
    }

    /** Notes that a tail-loss probe will be sent: doubles the next probe timeout. */
    void onProbe() {
        roundTrips.onProbe();
    }

    /** Notes that packets will be sent again: discards the measurement in progress and stops the probe timer. */
    void onRewind() {
        roundTrips.onRetransmit();
        probeDeadline = NEVER;
    }

    /** Stops the acknowledgement timeout until a packet is sent. */
    void stopTimeout() {
        ackDeadline = NEVER;
    }

    /** Consumes a retry. Returns false if none is left. */
    boolean takeRetry() {
        if (retriesLeft == 0) {
            return false;
        }
        retriesLeft--;
        return true;
    }

    // ---- RNR back-off ----

    /** Returns whether the requester waits after an RNR NAK. */
    boolean isWaitingForReceiver() {
        return rnrDeadline != NEVER;
    }

    /** Returns whether nothing was acknowledged since the last RNR NAK. */
    boolean isBackedOff() {
        return rnrBackOffs > 0;
    }

    /** Ends the RNR wait if it has expired. */
    void onRnrDeadline(long nowNanos) {
        if (nowNanos >= rnrDeadline) {
            rnrDeadline = NEVER;
        }
    }

    /** Consumes an RNR retry. Returns false if none is left. */
    boolean takeRnrRetry() {
        return rnrRetry == UNLIMITED_RNR_RETRY || rnrRetriesLeft-- > 0;
    }

    /**
     * Starts an RNR wait and stops the acknowledgement timeout. The wait grows with each consecutive RNR NAK up to a limit.
     *
     * @param timerCode code of the delay that the peer requests
     */
    void backOff(long nowNanos, int timerCode) {
        retriesLeft = retryCount; // the peer is alive
        ackDeadline = NEVER;
        long delayNanos = Timers.rnrNakDelayNanos(timerCode);
        long extraNanos = (delayNanos << Math.min(rnrBackOffs, MAX_BACK_OFF_DOUBLINGS)) - delayNanos;
        rnrDeadline = nowNanos + delayNanos + Math.min(extraNanos, MAX_EXTRA_BACK_OFF_NANOS);
        rnrBackOffs++;
    }
}
