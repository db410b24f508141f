package io.rdma4j.tools.cmtime;

/**
 * The points at which the instances wait for each other.
 *
 * <p>Each has the byte that represents it on the out-of-band connection; C uses the number of a step.
 */
enum Barrier {
    /** Before a test. */
    BEGIN(0),
    /** All queue pairs have been created, and no connection yet. C: {@code STEP_INIT_QP}. */
    PREPARED(7),
    /** All connections are established. C: {@code STEP_CONNECT}. */
    CONNECTED(12),
    /** All connections are closed. C: {@code STEP_DISCONNECT}. */
    DISCONNECTED(14);

    private final int code;

    Barrier(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
