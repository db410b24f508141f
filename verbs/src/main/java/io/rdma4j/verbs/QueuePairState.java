package io.rdma4j.verbs;

/** State of a queue pair. C: {@code enum ibv_qp_state}. */
public enum QueuePairState {
    /** Just made, or reset: nothing may be posted. */
    RESET(0),
    /** Receives may be posted; nothing is processed. */
    INIT(1),
    /** Ready to receive: the peer's requests are served. */
    READY_TO_RECEIVE(2),
    /** Ready to send: both ways. */
    READY_TO_SEND(3),
    /** Send queue drained: what was begun is finished, nothing new is begun; both queues may be posted to. */
    SEND_QUEUE_DRAINED(4),
    /** Send queue error, of unreliable transports: sends are flushed, the peer's are still received. */
    SEND_QUEUE_ERROR(5),
    /** Broken or disconnected: all that is posted is flushed. */
    ERROR(6);

    private final int code;

    QueuePairState(int code) {
        this.code = code;
    }

    /** The number of {@code ibv_qp_state}. */
    public int code() {
        return code;
    }
}
