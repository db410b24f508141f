package io.rdma4j.transport;

/**
 * Decides when to probe the peer of an idle connection and when to give up. Probing starts after an interval in which
 * nothing was received. A probe is repeated as often, and at the same intervals, as a request would be. Source:
 * decision 027.
 */
final class IdleProbe {
    /** The action to take when {@link #deadlineNanos} has passed. */
    enum Action {
        /** Do nothing. */
        WAIT,
        /** Probe the peer. */
        PROBE,
        /** The peer has not answered: fail the connection. */
        GIVE_UP
    }

    private static final long NEVER = QueuePairMachine.NEVER;

    /** 0 if disabled. */
    private long intervalNanos;

    private long deadlineNanos = NEVER;
    private long lastReceivedNanos;

    /** Number of probes since the last packet from the peer. */
    private int unanswered;

    private boolean isDue;

    /** Starts probing with an interval; 0 stops it. */
    void start(long nowNanos, long interval) {
        intervalNanos = interval;
        lastReceivedNanos = nowNanos;
        unanswered = 0;
        isDue = false;
        deadlineNanos = interval == 0 ? NEVER : nowNanos + interval;
    }

    /** Stops probing until it is started again. */
    void stop() {
        start(0, 0);
    }

    boolean isOn() {
        return intervalNanos != 0;
    }

    long intervalNanos() {
        return intervalNanos;
    }

    /**
     * Notes that a packet arrived from the peer. If it answers a probe, the next interval starts now, even if the
     * timeout of the probe would end later.
     *
     * @return {@code true} if a probe was outstanding
     */
    boolean onReceived(long nowNanos) {
        boolean wasProbing = unanswered > 0;
        lastReceivedNanos = nowNanos;
        unanswered = 0;
        if (wasProbing) {
            deadlineNanos = Math.min(deadlineNanos, nowNanos + intervalNanos);
        }
        return wasProbing;
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    /**
     * Returns the action to take now.
     *
     * @param isInFlight {@code true} if a request is in flight, whose own timeouts detect a dead peer
     * @param retries number of times a probe is repeated
     * @param timeoutNanos time to wait for an answer; {@link QueuePairMachine#NEVER} to use the interval
     */
    Action onDeadline(long nowNanos, boolean isInFlight, int retries, long timeoutNanos) {
        if (isInFlight) {
            unanswered = 0;
            deadlineNanos = nowNanos + intervalNanos;
            return Action.WAIT;
        }
        if (unanswered == 0 && lastReceivedNanos + intervalNanos > nowNanos) {
            deadlineNanos = lastReceivedNanos + intervalNanos;
            return Action.WAIT;
        }
        if (unanswered > retries) {
            deadlineNanos = NEVER;
            return Action.GIVE_UP;
        }
        unanswered++;
        isDue = true;
        deadlineNanos = nowNanos + (timeoutNanos == NEVER ? intervalNanos : timeoutNanos);
        return Action.PROBE;
    }

    /** Returns whether a probe has to be sent, and clears the request. */
    boolean takeDue() {
        boolean due = isDue;
        isDue = false;
        return due;
    }
}
