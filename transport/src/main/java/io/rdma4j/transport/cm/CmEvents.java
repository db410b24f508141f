package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;

/**
 * What a connection tells its owner. Called from inside the agent's methods, as their last act for the connection, so
 * every method of the connection and the agent may be called from here. Must not throw.
 *
 * <p>After {@link CmConnection#destroy} only {@link #onTimewaitExit} is called.
 */
public interface CmEvents {
    /**
     * Active side: the peer accepted ({@code IB_CM_REP_RECEIVED}). Bring the queue pair to ready-to-send, then {@link
     * CmConnection#sendReadyToUse}; or {@link CmConnection#reject}.
     *
     * @param connection in state {@link CmState#REP_RECEIVED}
     * @param reply what the peer says, in its view: its responder resources bound our initiator depth
     */
    void onReply(CmConnection connection, Rep reply);

    /**
     * Passive side: the connection is established, by RTU or by {@link
     * CmConnection#notifyCommunicationEstablished} ({@code IB_CM_RTU_RECEIVED}, {@code IB_CM_USER_ESTABLISHED}).
     *
     * @param connection in state {@link CmState#ESTABLISHED}
     */
    void onReadyToUse(CmConnection connection);

    /**
     * The peer rejected or gave up ({@code IB_CM_REJ_RECEIVED}). The connection is in {@link CmState#IDLE}, or in {@link
     * CmState#TIMEWAIT} where packets of it may be under way.
     *
     * @param connection the connection
     * @param reject the reason and the private data
     */
    void onReject(CmConnection connection, Rej reject);

    /**
     * The peer did not answer the REQ (active) or the REP (passive), all retries included ({@code IB_CM_REQ_ERROR},
     * {@code IB_CM_REP_ERROR}).
     *
     * @param connection in state {@link CmState#IDLE}
     */
    void onUnreachable(CmConnection connection);

    /**
     * The peer wants to disconnect ({@code IB_CM_DREQ_RECEIVED}); {@link CmConnection#disconnect} answers.
     *
     * @param connection in state {@link CmState#DREQ_RECEIVED}
     */
    void onDisconnectRequest(CmConnection connection);

    /**
     * The peer answered our DREQ, or did not ({@code IB_CM_DREP_RECEIVED}, {@code IB_CM_DREQ_ERROR}).
     *
     * @param connection in state {@link CmState#TIMEWAIT}
     * @param timedOut whether the peer stayed silent
     */
    void onDisconnected(CmConnection connection, boolean timedOut);

    /**
     * The time-wait is over: the queue pair's number may be used again ({@code IB_CM_TIMEWAIT_EXIT}).
     *
     * @param connection in state {@link CmState#IDLE}
     */
    void onTimewaitExit(CmConnection connection);
}
