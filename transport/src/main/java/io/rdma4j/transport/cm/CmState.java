package io.rdma4j.transport.cm;

/** States of a connection, those of the diagrams in IBA volume 1, 12.9.5, and of Linux's {@code enum ib_cm_state}. */
public enum CmState {
    /** Not connected: rejected, timed out, or its time-wait is over. Only {@link CmConnection#destroy} makes sense. */
    IDLE,
    /** Active: REQ sent, waiting for REP. */
    REQ_SENT,
    /** Passive: REQ received, the listener is being told. */
    REQ_RECEIVED,
    /** Passive: the listener has the request and has not decided; a repeated REQ is answered with MRA. */
    MRA_REQ_SENT,
    /** Active: the peer asked for more time to answer the REQ. */
    MRA_REQ_RECEIVED,
    /** Passive: REP sent, waiting for RTU. Data may arrive already. */
    REP_SENT,
    /** Active: REP received, the owner is being told. */
    REP_RECEIVED,
    /** Active: the owner has the reply and has not decided; a repeated REP is answered with MRA. */
    MRA_REP_SENT,
    /** Passive: the peer asked for more time to answer the REP. */
    MRA_REP_RECEIVED,
    /** Connected. */
    ESTABLISHED,
    /** DREQ sent, waiting for DREP. */
    DREQ_SENT,
    /** DREQ received; {@link CmConnection#disconnect} answers it. */
    DREQ_RECEIVED,
    /** Over, but packets may still be under way: the queue pair's number must not be used again yet. */
    TIMEWAIT
}
