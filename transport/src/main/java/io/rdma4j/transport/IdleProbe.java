package io.rdma4j.transport;

/**
 * When to ask the peer of an idle connection whether it is there, and when to give it up: after an interval in which nothing
 * came from it, as often as a request would be repeated, with as long between. Source: docs/decisions/027.
 */
final class IdleProbe {
    /** What is to be done when the time of {@link #deadlineNanos} has come. */
    enum Action {
        /** Nothing. */
        WAIT,
        /** The peer is to be asked. */
        ASK,
        /** The peer has not answered. */
        GIVE_UP
    }

    private static final long NEVER = Requester.NEVER;

    /** 0 for never. */
    private long intervalNanos;

    private long deadlineNanos = NEVER;
    private long lastHeardNanos;

    /** Questions since the peer was heard last. */
    private int unanswered;

    private boolean isDue;

    /** Sets the interval; 0 stops it. */
    void start(long nowNanos, long interval) {
        intervalNanos = interval;
        lastHeardNanos = nowNanos;
        unanswered = 0;
        isDue = false;
        deadlineNanos = interval == 0 ? NEVER : nowNanos + interval;
    }

    /** Stops it until it is started again. */
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
     * Notes that something came from the peer.
     *
     * @return whether it was waited for
     */
    boolean onHeard(long nowNanos) {
        boolean wasAwaited = unanswered > 0;
        lastHeardNanos = nowNanos;
        unanswered = 0;
        return wasAwaited;
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    /**
     * Says what is to be done now.
     *
     * @param isWatched whether a request is under way, whose own time-outs tell of a dead peer
     * @param retries how often a question is repeated
     * @param timeoutNanos how long an answer may take; {@link Requester#NEVER} for the interval
     */
    Action onDeadline(long nowNanos, boolean isWatched, int retries, long timeoutNanos) {
        if (isWatched) {
            unanswered = 0;
            deadlineNanos = nowNanos + intervalNanos;
            return Action.WAIT;
        }
        if (unanswered == 0 && lastHeardNanos + intervalNanos > nowNanos) {
            deadlineNanos = lastHeardNanos + intervalNanos;
            return Action.WAIT;
        }
        if (unanswered > retries) {
            deadlineNanos = NEVER;
            return Action.GIVE_UP;
        }
        unanswered++;
        isDue = true;
        deadlineNanos = nowNanos + (timeoutNanos == NEVER ? intervalNanos : timeoutNanos);
        return Action.ASK;
    }

    /** Whether a question is to be sent; once for each. */
    boolean takeDue() {
        boolean was = isDue;
        isDue = false;
        return was;
    }
}
