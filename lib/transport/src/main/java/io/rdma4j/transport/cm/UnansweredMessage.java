package io.rdma4j.transport.cm;

/**
 * A message that waits for an answer: the times at which to send it again, and the time to give up. The interval
 * doubles until it is Linux's. The time to give up is the same as in Linux, whatever the number of retransmissions.
 */
final class UnansweredMessage {
    private final CmDatagram datagram;
    private final long intervalNanos;
    private final long maxGiveUpNanos;
    private long waitNanos;
    private long giveUpNanos;
    private long extendedUntilNanos;
    private int extensionsLeft;

    /**
     * Creates a message that is sent for the first time now.
     *
     * @param datagram the message
     * @param nowNanos current time
     * @param firstWaitNanos time until the first retransmission, at most one interval
     * @param intervalNanos Linux's interval, the maximum
     * @param tries number of intervals until giving up, and maximum number of extensions
     * @param maxWaitNanos upper limit of the time to give up, regardless of extensions
     */
    UnansweredMessage(
            CmDatagram datagram, long nowNanos, long firstWaitNanos, long intervalNanos, int tries, long maxWaitNanos) {
        this.datagram = datagram;
        this.intervalNanos = intervalNanos;
        waitNanos = Math.min(firstWaitNanos, intervalNanos);
        giveUpNanos = nowNanos + tries * intervalNanos;
        maxGiveUpNanos = maxWaitNanos == Long.MAX_VALUE ? Long.MAX_VALUE : nowNanos + maxWaitNanos;
        extensionsLeft = tries;
        extendedUntilNanos = nowNanos;
    }

    CmDatagram datagram() {
        return datagram;
    }

    /** Returns whether it is time to give up. */
    boolean isOver(long nowNanos) {
        return nowNanos >= giveUpNanos;
    }

    /** Returns the time of the next retransmission, or the time to give up if that is earlier. */
    long nextNanos(long nowNanos) {
        return Math.min(nowNanos + waitNanos, giveUpNanos);
    }

    /** Doubles the time until the next retransmission. */
    void backOff() {
        waitNanos = Math.min(2 * waitNanos, intervalNanos);
    }

    /**
     * Extends the time to give up because of an MRA. Retransmission continues at the maximum interval, since the peer's
     * message after its MRA may also be lost. As in Linux, at most as many MRAs count as there are tries, and MRAs
     * during an extension do not count.
     */
    void extend(long nowNanos, long serviceNanos) {
        if (extensionsLeft > 0 && nowNanos >= extendedUntilNanos) {
            extensionsLeft--;
            extendedUntilNanos = nowNanos + serviceNanos;
            giveUpNanos = Math.max(giveUpNanos, Math.min(extendedUntilNanos + intervalNanos, maxGiveUpNanos));
        }
        waitNanos = intervalNanos;
    }

    /** Gives up after at most the given number of intervals from now. */
    void limit(long nowNanos, int intervals) {
        giveUpNanos = Math.min(giveUpNanos, nowNanos + intervals * intervalNanos);
    }

    /** Continues with short intervals. */
    void expedite(long newWaitNanos) {
        waitNanos = newWaitNanos;
    }
}
