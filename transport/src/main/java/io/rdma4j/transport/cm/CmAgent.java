package io.rdma4j.transport.cm;

import java.lang.foreign.MemorySegment;

/**
 * The communication manager of one CA: all its listeners and connections. Give it every MAD that arrives on QP 1 with
 * {@link #onMad}; after any call, take what it wants to send with {@link #pollTransmit} until that returns false, and
 * call {@link #onDeadline} when {@link #nextDeadlineNanos} has come.
 *
 * <p>Not thread safe. Time is any monotonic clock in nanoseconds.
 */
public final class CmAgent {
    private final CmConfiguration configuration;
    private final CmCounters counters = new CmCounters();
    private long lastNanos;

    /** Creates an agent without listeners and connections. */
    public CmAgent(CmConfiguration configuration) {
        this.configuration = configuration;
    }

    /** What the agent was made with. */
    public CmConfiguration configuration() {
        return configuration;
    }

    /** What the agent has counted. */
    public CmCounters counters() {
        return counters;
    }

    /**
     * Takes requests for a service ID ({@code ib_cm_listen}).
     *
     * @param serviceId 64-bit service ID, matched exactly
     * @param listener asked for each request
     * @param backlog requests of this listener that may wait for an answer of the owner, at least 1; beyond that requests
     *     are dropped silently so that the peer sends them again
     * @return closes the listener; its connections stay
     */
    public CmListening listen(long serviceId, CmListener listener, int backlog) {
        return new CmListening(this, serviceId, listener, backlog);
    }

    /**
     * Sends a REQ ({@code ib_send_cm_req}).
     *
     * @param nowNanos the time
     * @param route the two ends
     * @param request what the REQ is to say
     * @param privateData at most 92 bytes
     * @param events where the connection's events go
     * @return the connection, in {@link CmState#REQ_SENT}
     * @throws IllegalArgumentException if the private data is longer than 92 bytes
     */
    public CmConnection connect(
            long nowNanos, CmRoute route, ConnectParameters request, byte[] privateData, CmEvents events) {
        touch(nowNanos);
        return new CmConnection(this, route, true);
    }

    /**
     * Takes a MAD that arrived on QP 1. What is wrong with it is counted; nothing is thrown.
     *
     * @param nowNanos the time
     * @param sourceHigh source address of the packet in GID form, upper half
     * @param sourceLow source address, lower half
     * @param scope IPv6 scope identifier of a link-local source, else 0
     * @param mad memory that holds the MAD; not kept
     * @param at where it begins, after BTH and DETH
     * @param length its bytes, without padding and ICRC; 256 from a proper sender
     * @param localHigh destination address of the packet, upper half
     * @param localLow destination address, lower half
     */
    public void onMad(
            long nowNanos,
            long sourceHigh,
            long sourceLow,
            int scope,
            MemorySegment mad,
            long at,
            int length,
            long localHigh,
            long localLow) {
        touch(nowNanos);
        counters.madsReceived++;
    }

    /**
     * Hands out the next MAD to send.
     *
     * @param nowNanos the time
     * @param out filled when there is one
     * @return false if there is nothing to send
     */
    public boolean pollTransmit(long nowNanos, CmDatagram out) {
        touch(nowNanos);
        return false;
    }

    /** When {@link #onDeadline} wants to be called; {@link Long#MAX_VALUE} for never. */
    public long nextDeadlineNanos() {
        return Long.MAX_VALUE;
    }

    /** Repeats, gives up and releases what is due. */
    public void onDeadline(long nowNanos) {
        touch(nowNanos);
    }

    /** Connections that the agent knows, those in time-wait included. */
    public int connectionCount() {
        return 0;
    }

    void touch(long nowNanos) {
        lastNanos = Math.max(lastNanos, nowNanos);
    }
}
