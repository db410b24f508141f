package io.rdma4j.transport;

/** What a queue pair reports besides completions. The names follow {@code ibv_event_type}. */
public enum QueuePairEvent {
    /** The first packet of the peer arrived while the queue pair could only receive ({@code IBV_EVENT_COMM_EST}). */
    COMMUNICATION_ESTABLISHED,
    /** The queue pair failed and no completion can say so ({@code IBV_EVENT_QP_FATAL}). */
    QUEUE_PAIR_FATAL,
    /** The peer sent a request against the rules ({@code IBV_EVENT_QP_REQ_ERR}). */
    REQUEST_ERROR,
    /** The peer's key, range or rights were wrong ({@code IBV_EVENT_QP_ACCESS_ERR}). */
    ACCESS_ERROR,
    /** What had been begun is sent, and nothing new is begun ({@code IBV_EVENT_SQ_DRAINED}). */
    SEND_QUEUE_DRAINED,
    /**
     * The queue pair is in the error state and takes nothing more from its shared receive queue ({@code
     * IBV_EVENT_QP_LAST_WQE_REACHED}).
     */
    LAST_RECEIVE_REACHED,
    /**
     * Within a second {@value PeerCheck#ALARM_PACKETS} packets came that only somebody sends who guesses port and PSN; at most
     * once a second. The connection goes on. Not an event of the verbs.
     */
    SPOOFING_SUSPECTED
}
