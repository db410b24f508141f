package io.rdma4j.transport;

/** Determines when a connection sends packets that routers may mark instead of dropping them (ECN, RFC 3168). */
public enum CongestionMarks {
    /** Never. */
    OFF,
    /** Once the peer has sent such packets, which shows that it reacts to marks. */
    LEARN,
    /** Always. */
    ON
}
