package io.rdma4j.transport;

/** Asynchronous events of a queue pair, named after {@code ibv_event_type}. */
public enum QueuePairEvent {
    /** The peer's first packet arrived while the queue pair could only receive ({@code IBV_EVENT_COMM_EST}). */
    COMMUNICATION_ESTABLISHED,
    /** The queue pair failed and no completion can report it ({@code IBV_EVENT_QP_FATAL}). */
    QUEUE_PAIR_FATAL,
    /** The peer sent an invalid request ({@code IBV_EVENT_QP_REQ_ERR}). */
    REQUEST_ERROR,
    /** A request of the peer had an invalid key, range or access right ({@code IBV_EVENT_QP_ACCESS_ERR}). */
    ACCESS_ERROR,
    /** All sends that had started are finished, and no new ones are started ({@code IBV_EVENT_SQ_DRAINED}). */
    SEND_QUEUE_DRAINED,
    /**
     * The queue pair is in the error state and takes no further receives from its shared receive queue
     * ({@code IBV_EVENT_QP_LAST_WQE_REACHED}).
     */
    LAST_RECEIVE_REACHED,
    /**
     * At least {@value PeerCheck#ALARM_PACKETS} packets with a guessed address, port or PSN arrived within a second.
     * Reported at most once per second; the connection stays up. Not an event of the verbs.
     */
    SPOOFING_SUSPECTED
}
