package io.rdma4j.transport.cm;

import io.rdma4j.wire.Timers;
import io.rdma4j.wire.cm.Req;

/** Times that follow from a REQ, as Linux computes them. */
final class CmTimes {
    /** Exponent beyond which a peer's response timeout is not believed: 4 seconds, which is what Linux says. */
    private static final int MAX_RESPONSE_TIMEOUT = 20;

    /** Exponent beyond which an acknowledge timeout is not believed: 65 seconds; Linux says 19. */
    private static final int MAX_ACKNOWLEDGE_TIMEOUT = 24;

    /**
     * The longest that an answered REQ waits for its confirmation, however much time the peer asks for: as long as a
     * Linux server waits, 16 times 4 seconds.
     */
    static final long MAX_CONFIRMATION_NANOS = 16 * Timers.cmTimeoutNanos(MAX_RESPONSE_TIMEOUT);

    private CmTimes() {}

    /** Time between repetitions: the peer's response time, on the active side and the way twice. */
    static long repetitionNanos(Req request, boolean active) {
        return active
                ? 2 * Timers.cmTimeoutNanos(packetLifeTime(request))
                        + Timers.cmTimeoutNanos(request.remoteResponseTimeout())
                : Timers.cmTimeoutNanos(Math.min(request.localResponseTimeout(), MAX_RESPONSE_TIMEOUT));
    }

    /** Twice the packet life time, as a REQ says it. */
    static long acknowledgeNanos(Req request) {
        return Timers.cmTimeoutNanos(Math.min(request.primaryPath().acknowledgeTimeout(), MAX_ACKNOWLEDGE_TIMEOUT));
    }

    /** Exponent of the active side's ACK timeout: twice the packet life time and the target's delay, rounded up. */
    static int ackTimeout(int targetAckDelay, Req request) {
        int flight = packetLifeTime(request) + 1;
        int timeout = flight >= targetAckDelay
                ? flight + (targetAckDelay >= flight - 1 ? 1 : 0)
                : targetAckDelay + (flight >= targetAckDelay - 1 ? 1 : 0);
        return Math.min(timeout, Timers.CODE_MASK);
    }

    /** The REQ carries packet life time + 1. */
    private static int packetLifeTime(Req request) {
        return Math.max(request.primaryPath().acknowledgeTimeout() - 1, 0);
    }
}
