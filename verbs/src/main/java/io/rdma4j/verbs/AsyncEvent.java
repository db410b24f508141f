package io.rdma4j.verbs;

/**
 * Something that happened to a device or to one of its objects outside any work request. C: {@code struct
 * ibv_async_event}.
 *
 * @param type what happened
 * @param source the object it happened to: a {@link CompletionQueue}, {@link QueuePair}, {@link
 *     SharedReceiveQueue} or {@link DeviceContext}
 */
public record AsyncEvent(Type type, Object source) {
    /** Kinds of events. C: {@code enum ibv_event_type}. */
    public enum Type {
        /** A completion was lost because the completion queue was full; the queue is unusable. */
        COMPLETION_QUEUE_ERROR(0, "CQ error"),
        /** The queue pair went into the error state for a reason that no completion tells. */
        QUEUE_PAIR_FATAL(1, "local work queue catastrophic error"),
        /** The peer's request broke the rules; the queue pair went into the error state. */
        QUEUE_PAIR_REQUEST_ERROR(2, "invalid request local work queue error"),
        /** The peer's request had a wrong key, range or right; the queue pair went into the error state. */
        QUEUE_PAIR_ACCESS_ERROR(3, "local access violation work queue error"),
        /** The first packet came in before the connection was reported as established. */
        COMMUNICATION_ESTABLISHED(4, "communication established"),
        /** What was begun is sent, as was asked for with the change to {@link QueuePairState#SEND_QUEUE_DRAINED}. */
        SEND_QUEUE_DRAINED(5, "send queue drained"),
        /**
         * The device is broken, or its network interface has gone: close it. Its queue pairs are in the error state.
         */
        DEVICE_FATAL(8, "local catastrophic error"),
        /** The port (1, of a software device) came up: its network interface is up and has a carrier. */
        PORT_ACTIVE(9, "port active"),
        /** The port went down. Connections outlive a short time of it. */
        PORT_ERROR(10, "port error"),
        /** Fewer receives are left in the shared receive queue than its limit. */
        SHARED_RECEIVE_QUEUE_LIMIT_REACHED(15, "SRQ limit reached"),
        /** The queue pair is in the error state and takes nothing more from its shared receive queue. */
        QUEUE_PAIR_LAST_WORK_REQUEST_REACHED(16, "last WQE reached"),
        /** The GID table changed: the network interface has other addresses. */
        GID_CHANGE(18, "GID table change");

        private final int code;
        private final String text;

        Type(int code, String text) {
            this.code = code;
            this.text = text;
        }

        /** Returns the numeric value of {@code ibv_event_type}. */
        public int code() {
            return code;
        }

        /** Returns a short description for users, the same as {@code ibv_event_type_str}. */
        public String text() {
            return text;
        }
    }
}
