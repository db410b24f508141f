package io.rdma4j.tools.cmtime;

/** Where the instances wait for each other, with the byte that stands for it between them: in C a number of a step. */
enum Barrier {
    /** Before a test. */
    BEGIN(0),
    /** The queue pairs are there, no connection is. C: {@code STEP_INIT_QP}. */
    PREPARED(7),
    /** All connections are there. C: {@code STEP_CONNECT}. */
    CONNECTED(12),
    /** All connections have gone. C: {@code STEP_DISCONNECT}. */
    DISCONNECTED(14);

    private final int code;

    Barrier(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
