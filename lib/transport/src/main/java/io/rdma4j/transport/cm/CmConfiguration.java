package io.rdma4j.transport.cm;

import java.util.function.IntSupplier;

/**
 * Creation parameters of an agent.
 *
 * @param caGuid GUID of the local CA; must be unique per agent in the network, since peers interpret the same GUID and
 *     queue pair with a new communication ID as a restarted agent
 * @param communicationIds proposes local communication IDs; should be unpredictable. Proposals that are 0 or in use are
 *     skipped
 * @param maxHalfOpen maximum number of passive connections that wait for accept or RTU, over all listeners; further
 *     requests are dropped without an answer
 * @param allowForeignAddresses {@code true} to process messages whose packet did not come from the peer's address. By
 *     default a REQ that names a third party as its sender is dropped, so that one packet cannot direct messages at a
 *     third party
 * @param firstRetransmitNanos delay before the first retransmission of REQ, REP and DREQ. It doubles with each
 *     retransmission up to the interval that Linux uses from the start. The total time before giving up is always that
 *     of Linux. {@link Long#MAX_VALUE} for Linux's constant intervals
 * @param requestsPerSecond average number of requests accepted from one address per second; others are dropped, and the
 *     peer retransmits them. Requests from the address that they are sent to, which many processes share, have 32 times
 *     this limit, and {@code maxConnectionsPerPeer} does not apply to them
 * @param requestBurst number of requests accepted from one address in a burst; 32 times as many from the address that
 *     they are sent to
 * @param maxConnectionsPerPeer maximum number of connections that one address may have requested and not yet ended;
 *     further requests are rejected
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

    /** Default of {@link #maxHalfOpen()}. */
    public static final int DEFAULT_MAX_HALF_OPEN = 4096;

    /** Default of {@link #firstRetransmitNanos()}: short, since a single lost packet is the common case. */
    public static final long DEFAULT_FIRST_RETRANSMIT_NANOS = 250_000_000L;

    /** Default of {@link #requestsPerSecond()}. */
    public static final int DEFAULT_REQUESTS_PER_SECOND = 1_000;

    /** Default of {@link #requestBurst()}. */
    public static final int DEFAULT_REQUEST_BURST = 10_000;

    /** Default of {@link #maxConnectionsPerPeer()}. */
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

    /** Creates a configuration with the default limits for peers. */
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

    /** Returns the default configuration for a CA GUID. */
    public static CmConfiguration of(long caGuid, IntSupplier communicationIds) {
        return new CmConfiguration(
                caGuid, communicationIds, DEFAULT_MAX_HALF_OPEN, false, DEFAULT_FIRST_RETRANSMIT_NANOS);
    }
}
