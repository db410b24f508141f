package io.rdma4j.transport.cm;

/** Connection states, as in the diagrams of IBA volume 1, 12.9.5, and Linux's {@code enum ib_cm_state}. */
public enum CmState {
    /** Not connected: rejected, timed out, or past its time-wait. Only {@link CmConnection#destroy} is useful. */
    IDLE,
    /** Active: REQ sent, waiting for REP. */
    REQ_SENT,
    /** Passive: REQ received, the owner has not polled the event or is handling it. */
    REQ_RECEIVED,
    /** Passive: the owner has the request and has not decided; a duplicate REQ is answered with an MRA. */
    MRA_REQ_SENT,
    /** Active: the peer requested more time to answer the REQ. */
    MRA_REQ_RECEIVED,
    /** Passive: REP sent, waiting for RTU. Data may arrive already. */
    REP_SENT,
    /** Active: REP received, the owner has not polled the event or is handling it. */
    REP_RECEIVED,
    /** Active: the owner has the reply and has not decided; a duplicate REP is answered with an MRA. */
    MRA_REP_SENT,
    /** Passive: the peer requested more time to answer the REP. */
    MRA_REP_RECEIVED,
    /** Connected. */
    ESTABLISHED,
    /** DREQ sent, waiting for DREP. */
    DREQ_SENT,
    /** DREQ received; {@link CmConnection#disconnect} answers it. */
    DREQ_RECEIVED,
    /** Closed, but packets may still be in flight: the queue pair number must not be reused yet. */
    TIMEWAIT
}
