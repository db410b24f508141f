package io.rdma4j.transport.cm;

import java.util.function.IntSupplier;

/**
 * What an agent is made with.
 *
 * @param caGuid GUID of the local CA; must be unique per agent in the network, since peers take the same GUID and queue
 *     pair with a new communication ID for a restarted agent
 * @param communicationIds proposes local communication IDs; should be unpredictable. A proposal that is 0 or in use is
 *     passed over
 * @param maxHalfOpen passive connections that may wait for accept or RTU at once, over all listeners; requests beyond are
 *     dropped without an answer
 * @param allowForeignAddresses whether to serve messages whose packet did not come from the peer's address: by default a
 *     REQ that names a third party as its sender is dropped, so that nobody can be made a target by one packet
 * @param firstRetransmitNanos wait before the first repetition of REQ, REP and DREQ; it doubles with each repetition up
 *     to the interval that Linux uses from the start. When the peer is given up is as on Linux in any case. {@link
 *     Long#MAX_VALUE} for exactly Linux's constant intervals
 * @param requestsPerSecond requests of one address that are looked at in a second, on the average; others are dropped, and
 *     the peer repeats them. For the address that they are sent to itself, which is that of many processes, it is 32 times
 *     as many, and {@code maxConnectionsPerPeer} does not hold
 * @param requestBurst requests of one address that are looked at at once; for the address that they are sent to 32 times as
 *     many
 * @param maxConnectionsPerPeer connections that one address may have asked for and hold at once; more are rejected
 */
public record CmConfiguration(
        long caGuid,
        IntSupplier communicationIds,
        int maxHalfOpen,
        boolean allowForeignAddresses,
        long firstRetransmitNanos,
        int requestsPerSecond,
        int requestBurst,
        int maxConnectionsPerPeer) {

    /** Half-open connections allowed unless stated otherwise. */
    public static final int DEFAULT_MAX_HALF_OPEN = 4096;

    /** First repetition after this time unless stated otherwise: short, since one lost packet is the common case. */
    public static final long DEFAULT_FIRST_RETRANSMIT_NANOS = 250_000_000L;

    /** Requests of one address in a second unless stated otherwise. */
    public static final int DEFAULT_REQUESTS_PER_SECOND = 1_000;

    /** Requests of one address at once unless stated otherwise. */
    public static final int DEFAULT_REQUEST_BURST = 10_000;

    /** Connections of one address unless stated otherwise. */
    public static final int DEFAULT_MAX_CONNECTIONS_PER_PEER = 16_384;

    /** Checks the limits. */
    public CmConfiguration {
        if (requestsPerSecond < 1 || requestBurst < 1 || maxConnectionsPerPeer < 1) {
            throw new IllegalArgumentException("requestsPerSecond " + requestsPerSecond + ", requestBurst "
                    + requestBurst + " and maxConnectionsPerPeer " + maxConnectionsPerPeer + " must be at least 1");
        }
        if (maxHalfOpen < 1) {
            throw new IllegalArgumentException("maxHalfOpen is " + maxHalfOpen + ", must be at least 1");
        }
        if (firstRetransmitNanos < 1_000_000) {
            throw new IllegalArgumentException(
                    "firstRetransmitNanos is " + firstRetransmitNanos + ", must be at least 1 ms");
        }
    }

    /** A configuration with the default limits for peers. */
    public CmConfiguration(
            long caGuid,
            IntSupplier communicationIds,
            int maxHalfOpen,
            boolean allowForeignAddresses,
            long firstRetransmitNanos) {
        this(
                caGuid,
                communicationIds,
                maxHalfOpen,
                allowForeignAddresses,
                firstRetransmitNanos,
                DEFAULT_REQUESTS_PER_SECOND,
                DEFAULT_REQUEST_BURST,
                DEFAULT_MAX_CONNECTIONS_PER_PEER);
    }

    /** The defaults for a CA of the given GUID. */
    public static CmConfiguration of(long caGuid, IntSupplier communicationIds) {
        return new CmConfiguration(
                caGuid, communicationIds, DEFAULT_MAX_HALF_OPEN, false, DEFAULT_FIRST_RETRANSMIT_NANOS);
    }
}
