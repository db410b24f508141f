package io.rdma4j.transport.cm;

import io.rdma4j.wire.Timers;
import io.rdma4j.wire.cm.Req;

/** Time intervals derived from a REQ, computed as Linux does. */
final class CmTimes {
    /** Maximum exponent accepted for a peer's response timeout: 4 seconds, as in Linux. */
    private static final int MAX_RESPONSE_TIMEOUT = 20;

    /** Maximum exponent accepted for an acknowledgement timeout: 65 seconds; 19 in Linux. */
    private static final int MAX_ACKNOWLEDGE_TIMEOUT = 24;

    /** Maximum time to wait for an RTU after a REP, regardless of MRAs: 16 times 4 seconds, as a Linux server waits. */
    static final long MAX_CONFIRMATION_NANOS = 16 * Timers.cmTimeoutNanos(MAX_RESPONSE_TIMEOUT);

    private CmTimes() {}

    /**
     * Returns the retransmission interval: the peer's response timeout, plus on the active side twice the packet
     * lifetime.
     */
    static long retransmitNanos(Req request, boolean active) {
        return active
                ? 2 * Timers.cmTimeoutNanos(packetLifeTime(request))
                        + Timers.cmTimeoutNanos(request.remoteResponseTimeout())
                : Timers.cmTimeoutNanos(Math.min(request.localResponseTimeout(), MAX_RESPONSE_TIMEOUT));
    }

    /** Returns twice the packet lifetime stated in a REQ. */
    static long acknowledgeNanos(Req request) {
        return Timers.cmTimeoutNanos(Math.min(request.primaryPath().acknowledgeTimeout(), MAX_ACKNOWLEDGE_TIMEOUT));
    }

    /**
     * Returns the exponent of the active side's ACK timeout: twice the packet lifetime plus the target's delay, rounded
     * up.
     */
    static int ackTimeout(int targetAckDelay, Req request) {
        int flight = packetLifeTime(request) + 1;
        int timeout = flight >= targetAckDelay
                ? flight + (targetAckDelay >= flight - 1 ? 1 : 0)
                : targetAckDelay + (flight >= targetAckDelay - 1 ? 1 : 0);
        return Math.min(timeout, Timers.CODE_MASK);
    }

    /** Returns the exponent of the packet lifetime; a REQ carries it plus one. */
    private static int packetLifeTime(Req request) {
        return Math.max(request.primaryPath().acknowledgeTimeout() - 1, 0);
    }
}
