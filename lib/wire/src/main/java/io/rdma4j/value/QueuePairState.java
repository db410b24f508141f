package io.rdma4j.value;

import java.util.Optional;

/** State of a queue pair. C: {@code enum ibv_qp_state}. */
public enum QueuePairState {
    /** Newly created, or reset: nothing may be posted. */
    RESET(0),
    /** Receives may be posted, but no packet is processed. */
    INIT(1),
    /** Ready to receive: the peer's requests are served. */
    READY_TO_RECEIVE(2),
    /** Ready to send and to receive. */
    READY_TO_SEND(3),
    /** Send queue drained: started sends are finished, no send is started. Both queues accept work requests. */
    SEND_QUEUE_DRAINED(4),
    /** Send queue error of unreliable transports: sends are flushed, but messages of the peer are received. */
    SEND_QUEUE_ERROR(5),
    /** Failed or disconnected: all posted work requests are flushed. */
    ERROR(6);

    private static final CodeTable<QueuePairState> BY_CODE = new CodeTable<>(values(), QueuePairState::code);

    private final int code;

    QueuePairState(int code) {
        this.code = code;
    }

    /** Returns the numeric value of {@code ibv_qp_state}. */
    public int code() {
        return code;
    }

    /** Returns the constant with a numeric value of {@code ibv_qp_state}, or nothing if there is none. */
    public static Optional<QueuePairState> ofCode(int code) {
        return BY_CODE.get(code);
    }
}
