package io.rdma4j.transport.cm;

/**
 * One connection's communication management, either side; made by {@link CmAgent#connect} or handed to a {@link
 * CmListener}. Corresponds to a kernel {@code ib_cm_id}. Methods throw {@link IllegalStateException} when the state does
 * not allow them and {@link IllegalArgumentException} when private data is longer than the message's field.
 */
public final class CmConnection {
    private final CmAgent agent;
    private final CmRoute route;
    private final boolean active;
    private CmState state = CmState.IDLE;

    CmConnection(CmAgent agent, CmRoute route, boolean active) {
        this.agent = agent;
        this.route = route;
        this.active = active;
    }

    /** The state. */
    public CmState state() {
        return state;
    }

    /** Whether this side sent the REQ. */
    public boolean isActive() {
        return active;
    }

    /** The two ends. */
    public CmRoute route() {
        return route;
    }

    /** Our communication ID; never 0. */
    public int localId() {
        return 0;
    }

    /** The peer's communication ID; 0 while unknown. */
    public int remoteId() {
        return 0;
    }

    /** GUID of the peer's CA; 0 while unknown. */
    public long remoteCaGuid() {
        return 0;
    }

    /** The peer's queue pair; 0 while unknown. */
    public int remoteQueuePair() {
        return 0;
    }

    /**
     * ACK timeout exponent for our queue pair, as Linux derives it: the passive side takes the REQ's, the active side
     * combines its own with the REP's target ACK delay.
     */
    public int queuePairAckTimeout() {
        return 0;
    }

    /**
     * Passive: sends the REP ({@code ib_send_cm_rep}). The queue pair must be ready to receive before. Goes to {@link
     * CmState#REP_SENT}.
     *
     * @param nowNanos the time
     * @param reply what the REP is to say
     * @param privateData at most 196 bytes
     */
    public void accept(long nowNanos, AcceptParameters reply, byte[] privateData) {
        agent.touch(nowNanos);
    }

    /**
     * Rejects the peer's REQ (passive) or REP (active) ({@code ib_send_cm_rej}). Goes to {@link CmState#IDLE}, or to
     * {@link CmState#TIMEWAIT} from {@link CmState#REP_SENT}.
     *
     * @param nowNanos the time
     * @param reason IBA table 109; 28 is the consumer's own
     * @param privateData at most 148 bytes
     */
    public void reject(long nowNanos, int reason, byte[] privateData) {
        agent.touch(nowNanos);
    }

    /**
     * Active: confirms the REP ({@code ib_send_cm_rtu}). The queue pair must be ready to send before. Goes to {@link
     * CmState#ESTABLISHED}; no event follows.
     */
    public void sendReadyToUse(long nowNanos) {
        agent.touch(nowNanos);
    }

    /**
     * Passive: data has arrived on the queue pair, so the peer has the REP and the RTU may be lost ({@code ib_cm_notify}
     * with IB_EVENT_COMM_EST). Establishes a connection in {@link CmState#REP_SENT}; does nothing in other states.
     */
    public void notifyCommunicationEstablished(long nowNanos) {
        agent.touch(nowNanos);
    }

    /**
     * Disconnects: sends a DREQ from {@link CmState#ESTABLISHED}, answers the peer's with DREP from {@link
     * CmState#DREQ_RECEIVED}; does nothing in {@link CmState#DREQ_SENT} and {@link CmState#TIMEWAIT}. Corresponds to
     * {@code rdma_disconnect}.
     *
     * @return whether a DREQ was sent, so that {@link CmEvents#onDisconnected} will follow
     */
    public boolean disconnect(long nowNanos) {
        agent.touch(nowNanos);
        return false;
    }

    /** Passive: the application has fetched the request, so that it no longer fills its listener's backlog. */
    public void releaseBacklog() {}

    /**
     * Gives the connection up, telling the peer what its state asks for: REJ 4 for an unanswered REQ, REJ 28 for an
     * undecided REQ or REP, DREQ for an established connection, DREP for a DREQ.
     *
     * @return true if nothing is left and the queue pair's number may be used again; false if {@link
     *     CmEvents#onTimewaitExit} will tell that
     */
    public boolean destroy(long nowNanos) {
        agent.touch(nowNanos);
        return true;
    }
}
