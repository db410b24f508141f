package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;

/**
 * Receives the events of a connection. Called from inside the agent's methods, as their last action for the connection,
 * so implementations may call any method of the connection and the agent. Must not throw.
 *
 * <p>After {@link CmConnection#destroy} only {@link #onTimewaitExit} is called.
 */
public interface CmEvents {
    /**
     * Active side: called when the peer has accepted ({@code IB_CM_REP_RECEIVED}). Move the queue pair to
     * ready-to-send, then call {@link CmConnection#sendReadyToUse}; or {@link CmConnection#reject}.
     *
     * @param connection in state {@link CmState#REP_RECEIVED}
     * @param reply the reply from the peer's perspective: its responder resources limit our initiator depth
     */
    void onReply(CmConnection connection, Rep reply);

    /**
     * Passive side: called when the connection is established, by RTU or by
     * {@link CmConnection#notifyCommunicationEstablished} ({@code IB_CM_RTU_RECEIVED}, {@code IB_CM_USER_ESTABLISHED}).
     *
     * @param connection in state {@link CmState#ESTABLISHED}
     */
    void onReadyToUse(CmConnection connection);

    /**
     * Called when the peer has rejected the connection or given up ({@code IB_CM_REJ_RECEIVED}). The connection is in
     * {@link CmState#IDLE}, or in {@link CmState#TIMEWAIT} if its packets may still be in flight.
     *
     * @param connection the connection
     * @param reject the reason and the private data
     */
    void onReject(CmConnection connection, Rej reject);

    /**
     * Called when the peer has not answered the REQ (active) or the REP (passive) after all retries
     * ({@code IB_CM_REQ_ERROR}, {@code IB_CM_REP_ERROR}).
     *
     * @param connection in state {@link CmState#IDLE}
     */
    void onUnreachable(CmConnection connection);

    /**
     * Called when the peer requests to disconnect ({@code IB_CM_DREQ_RECEIVED}); {@link CmConnection#disconnect}
     * replies.
     *
     * @param connection in state {@link CmState#DREQ_RECEIVED}
     */
    void onDisconnectRequest(CmConnection connection);

    /**
     * Called when the peer has replied to our DREQ, or all retries have timed out ({@code IB_CM_DREP_RECEIVED},
     * {@code IB_CM_DREQ_ERROR}).
     *
     * @param connection in state {@link CmState#TIMEWAIT}
     * @param timedOut {@code true} if the peer did not reply
     */
    void onDisconnected(CmConnection connection, boolean timedOut);

    /**
     * Called when the time-wait is over and the queue pair number may be reused ({@code IB_CM_TIMEWAIT_EXIT}).
     *
     * @param connection in state {@link CmState#IDLE}
     */
    void onTimewaitExit(CmConnection connection);
}
