package io.rdma4j.verbs;

/** Transport of a queue pair. C: {@code enum ibv_qp_type}. */
public enum QueuePairType {
    /** Reliable connection: every operation, in order, exactly once. */
    RELIABLE_CONNECTION(2),
    /** Unreliable connection: SEND and RDMA WRITE, in order, each at most once and only whole. */
    UNRELIABLE_CONNECTION(3),
    /** Unreliable datagram: SEND of one packet, to anybody, in any order, at most once. */
    UNRELIABLE_DATAGRAM(4),
    /** Initiator of an extended reliable connection: sends every operation, receives nothing; see {@link XrcDomain}. */
    XRC_SEND(9),
    /** Target of an extended reliable connection: sends nothing, its receives are those of shared queues. */
    XRC_RECEIVE(10);

    private final int code;

    QueuePairType(int code) {
        this.code = code;
    }

    /** Returns the numeric value of {@code ibv_qp_type}. */
    public int code() {
        return code;
    }
}
