package io.rdma4j.transport;

import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;

/**
 * The rate at which a queue pair sends payload, reduced when its peer reports congestion (decision 050): the reaction
 * point of DCQCN (Zhu et al., SIGCOMM 2015, section 3.2).
 *
 * <p>The rate is unlimited until the first notification. A notification then reduces it by up to half, according to an
 * estimate of the congestion, at most once per period. It recovers in steps: first by half of the distance to the rate
 * before the reduction, then beyond that rate by a fixed step, and later by growing steps. The limit ends when it is
 * far above the rate that is sent.
 *
 * <p>Periods and steps are multiples of the round-trip time where that is longer than DCQCN's timers, since the effect of a
 * change of the rate cannot be seen earlier. Network cards measure no round trips, and count bytes in addition to the time.
 *
 * <p>Without a notification, a packet costs a few additions and comparisons.
 */
final class SendRate {
    /** The round trip that is assumed if none is measured: a slow link with a full buffer. */
    private static final long UNKNOWN_ROUND_TRIP_NANOS = 1_000_000;

    /** The lowest rate, which even a peer that sends nothing but notifications cannot reduce. */
    static final long MIN_BYTES_PER_SECOND = 1_000_000;

    /** The shortest time between two reductions of the rate, and between two changes of the estimate. */
    static final long MIN_REDUCTION_NANOS = 55_000;

    /** The shortest time between two increases of the rate. */
    static final long MIN_INCREASE_NANOS = 300_000;

    /** Increases after a reduction before the step grows. The first only halves the distance to the rate before the reduction. */
    private static final int FIXED_STEPS = 8;

    /** The fixed step, 5 Mbit/s. */
    private static final double INCREASE_BYTES_PER_NANO = 0.000_625;

    /** The increment of the growing steps, as a share of the rate, if that is more than the fixed step. */
    private static final double GROWING_SHARE = 1.0 / 64;

    /** Weight of a period in the estimate. */
    private static final double WEIGHT = 1.0 / 16;

    /** The rate that is sent is measured over this time. */
    private static final long MEASURE_NANOS = 1_000_000;

    /** Maximum time that a packet is assumed to travel: a long path with full buffers. */
    private static final long RECENT_NANOS = 20_000_000;

    /** The limit ends when it is this many times the rate that is sent. */
    private static final int IRRELEVANT_FACTOR = 4;

    /**
     * A reduction starts at this many times the rate that is sent, if the limit is higher and therefore had no effect.
     */
    private static final double SENT_MARGIN = 1.1;

    /** Maximum unused sending time that may be made up for: threads wake up late. */
    private static final long MAX_BURST_NANOS = 500_000;

    /** Bytes of the Ethernet, IP and UDP headers and of the ICRC around a packet. */
    private static final int OVERHEAD_BYTES = 50;

    private static final int ACKNOWLEDGEMENT_BYTES = Bth.LENGTH + Aeth.LENGTH;

    private static final double MIN_BYTES_PER_NANO = MIN_BYTES_PER_SECOND / 1e9;
    private static final long NEVER = QueuePairMachine.NEVER;

    private boolean isLimited;

    /** The limit that the application has set, in bytes per nanosecond; 0 for none. */
    private double ceiling;

    /** The limit, and its value before the last reduction and with its later increases, in bytes per nanosecond. */
    private double rate;

    private double target;

    /** Estimate of the congestion: the share of the periods with a notification, 0 to 1. */
    private double congestion;

    private long roundTripNanos;
    private long reducedNanos;
    private long increasedNanos;
    private long decayedNanos;
    private int increases;

    /** When the next packet may be sent; the time may be negative. */
    private long nextNanos = Long.MIN_VALUE;

    private boolean isHoldingBack;

    /** True if a packet that is not just an acknowledgement was sent, and when the newest one was. */
    private boolean hasSent;

    private long sentNanos;

    private boolean isMeasuring;
    private long measuredSinceNanos;
    private long measuredBytes;
    private double measuredRate;

    /**
     * Sets a limit independent of congestion, which counts the headers of the packets.
     *
     * @param bytesPerSecond 0 for none
     */
    void ceiling(long bytesPerSecond) {
        ceiling = bytesPerSecond / 1e9;
        nextNanos = Long.MIN_VALUE;
        isHoldingBack = false;
    }

    /** Starts without a limit by congestion. */
    void start() {
        isLimited = false;
        isHoldingBack = false;
        hasSent = false;
        isMeasuring = false;
        roundTripNanos = 0;
        measuredBytes = 0;
        measuredRate = 0;
    }

    /** Returns the current congestion limit in bytes per second; {@link Long#MAX_VALUE} if there is none. */
    long bytesPerSecond() {
        return isLimited ? Math.round(rate * 1e9) : Long.MAX_VALUE;
    }

    /**
     * Returns whether a packet with payload may be sent now. If not, {@link #deadlineNanos} is when it may be.
     *
     * @param hasPayload {@code false} if there is none, which needs no permission
     */
    boolean maySend(long nowNanos, boolean hasPayload) {
        isHoldingBack = false;
        if (!hasPayload || !isPaced()) {
            return true;
        }
        if (isLimited) {
            recover(nowNanos);
        }
        isHoldingBack = isPaced() && nowNanos < nextNanos;
        return !isHoldingBack;
    }

    /** Returns whether there is a limit. */
    boolean isPaced() {
        return isLimited || ceiling > 0;
    }

    /** Returns whether the last packet with payload that could have been sent was held back. */
    boolean isHoldingBack() {
        return isHoldingBack;
    }

    /** Returns when a packet that was held back may be sent; {@link QueuePairMachine#NEVER} if none was. */
    long deadlineNanos() {
        return isHoldingBack ? nextNanos : NEVER;
    }

    /** Notes that a packet was sent. */
    void onSent(long nowNanos, int bytes) {
        if (bytes > ACKNOWLEDGEMENT_BYTES) {
            sentNanos = nowNanos;
            hasSent = true;
        }
        long weight = (long) bytes + OVERHEAD_BYTES;
        measure(nowNanos, weight);
        if (isPaced()) {
            double limit = !isLimited ? ceiling : ceiling > 0 ? Math.min(ceiling, rate) : rate;
            nextNanos = Math.max(nextNanos, nowNanos - MAX_BURST_NANOS) + Math.round(weight / limit);
        }
    }

    private void measure(long nowNanos, long weight) {
        long elapsed = nowNanos - measuredSinceNanos;
        if (!isMeasuring || elapsed >= Math.max(MEASURE_NANOS, roundTripNanos)) {
            measuredRate = isMeasuring ? (double) measuredBytes / elapsed : 0;
            isMeasuring = true;
            measuredSinceNanos = nowNanos;
            measuredBytes = 0;
        }
        measuredBytes += weight;
    }

    /**
     * Returns whether a packet that is not just an acknowledgement was sent so recently that the peer may just have received it.
     *
     * @param roundTrip the smoothed round-trip time, 0 if unknown
     */
    boolean hasSentLately(long nowNanos, long roundTrip) {
        return hasSent && nowNanos - sentNanos <= Math.max(RECENT_NANOS, 2 * roundTrip);
    }

    /**
     * Reduces the rate because the peer has reported congestion.
     *
     * @param roundTrip the smoothed round-trip time, 0 if unknown
     */
    void onNotification(long nowNanos, long roundTrip) {
        roundTripNanos = roundTrip == 0 ? UNKNOWN_ROUND_TRIP_NANOS : roundTrip;
        if (isLimited) {
            recover(nowNanos); // which may end the limit
        }
        if (!isLimited) {
            begin(nowNanos);
        }
        if (nowNanos - reducedNanos < reductionNanos()) {
            return;
        }
        rate = Math.min(rate, SENT_MARGIN * sentRate(nowNanos));
        congestion += (1 - congestion) * WEIGHT;
        if (increases > 0) {
            target = rate;
        }
        rate = Math.max(MIN_BYTES_PER_NANO, rate * (1 - congestion / 2));
        reducedNanos = nowNanos;
        decayedNanos = nowNanos;
        increasedNanos = nowNanos;
        increases = 0;
    }

    private void begin(long nowNanos) {
        isLimited = true;
        rate = sentRate(nowNanos);
        target = rate;
        congestion = 1;
        increases = 0;
        nextNanos = ceiling > 0 ? Math.max(nextNanos, nowNanos) : nowNanos;
        reducedNanos = nowNanos - reductionNanos();
        decayedNanos = nowNanos;
    }

    /** Returns the rate at which packets were sent lately. */
    private double sentRate(long nowNanos) {
        long elapsed = nowNanos - measuredSinceNanos;
        boolean isPresentKnown = elapsed > 0 && (measuredRate == 0 || elapsed >= MEASURE_NANOS / 2);
        double present = isPresentKnown ? (double) measuredBytes / elapsed : 0;
        return Math.max(MIN_BYTES_PER_NANO, Math.max(measuredRate, present));
    }

    private long reductionNanos() {
        return Math.max(MIN_REDUCTION_NANOS, 2 * roundTripNanos);
    }

    /** Applies the increases of the rate, and the decay of the estimate, that are due. */
    private void recover(long nowNanos) {
        long decays = (nowNanos - decayedNanos) / reductionNanos();
        if (decays > 0) {
            congestion *= Math.pow(1 - WEIGHT, (double) decays);
            decayedNanos += decays * reductionNanos();
        }
        long period = Math.max(MIN_INCREASE_NANOS, 3 * roundTripNanos);
        while (isLimited && nowNanos - increasedNanos >= period) {
            increasedNanos += period;
            increase();
        }
    }

    private void increase() {
        increases++;
        int growing = increases - FIXED_STEPS;
        if (growing > 0) {
            target += growing * Math.max(INCREASE_BYTES_PER_NANO, target * GROWING_SHARE);
        } else if (increases > 1) {
            target += INCREASE_BYTES_PER_NANO;
        }
        rate = (rate + target) / 2;
        if (growing > 0 && rate > IRRELEVANT_FACTOR * measuredRate) {
            isLimited = false;
            isHoldingBack = false;
        }
    }
}
