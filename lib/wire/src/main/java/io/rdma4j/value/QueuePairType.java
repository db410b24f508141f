package io.rdma4j.value;

import java.util.Optional;

/** The transport of a queue pair. C: {@code enum ibv_qp_type}. */
public enum QueuePairType {
    /** Reliable connection: supports all operations, in order and exactly once. */
    RELIABLE_CONNECTION(2),
    /** Unreliable connection: SEND and RDMA WRITE, in order, each delivered completely and at most once. */
    UNRELIABLE_CONNECTION(3),
    /** Unreliable datagram: SEND of one packet to any destination, in any order, at most once. */
    UNRELIABLE_DATAGRAM(4),
    /** Initiator of an extended reliable connection: sends all operations and receives none; see {@code XrcDomain}. */
    XRC_SEND(9),
    /** Target of an extended reliable connection: sends nothing and uses the receives of shared queues. */
    XRC_RECEIVE(10);

    private static final CodeTable<QueuePairType> BY_CODE = new CodeTable<>(values(), QueuePairType::code);

    private final int code;

    QueuePairType(int code) {
        this.code = code;
    }

    /** Returns the numeric value of {@code ibv_qp_type}. */
    public int code() {
        return code;
    }

    /** Returns the constant with a numeric value of {@code ibv_qp_type}, or nothing if there is none. */
    public static Optional<QueuePairType> ofCode(int code) {
        return BY_CODE.get(code);
    }
}
