package io.rdma4j.verbs;

import io.rdma4j.value.QueuePairState;

/**
 * An asynchronous event of a device or one of its objects, which no completion reports. C: {@code struct
 * ibv_async_event}.
 *
 * @param type type of the event
 * @param source the affected object: a {@link CompletionQueue}, {@link QueuePair}, {@link
 *     SharedReceiveQueue} or {@link DeviceContext}
 * @param port the affected port, from 1, for an event of a port, such as {@link Type#PORT_ACTIVE}; otherwise 0
 */
public record AsyncEvent(Type type, Object source, int port) {
    /** Creates an event of an object other than a port. */
    public AsyncEvent(Type type, Object source) {
        this(type, source, 0);
    }

    /** The types of events. C: {@code enum ibv_event_type}. */
    public enum Type {
        /** A completion was lost because the completion queue was full. The queue is unusable. */
        COMPLETION_QUEUE_ERROR(0, "CQ error"),
        /** The queue pair went into the error state for a reason that no completion reports. */
        QUEUE_PAIR_FATAL(1, "local work queue catastrophic error"),
        /** A request of the peer violated the protocol. The queue pair went into the error state. */
        QUEUE_PAIR_REQUEST_ERROR(2, "invalid request local work queue error"),
        /**
         * A request of the peer had an invalid key or range, or lacked a right. The queue pair went into the error
         * state.
         */
        QUEUE_PAIR_ACCESS_ERROR(3, "local access violation work queue error"),
        /** The first packet was received before the connection was reported as established. */
        COMMUNICATION_ESTABLISHED(4, "communication established"),
        /** The send queue has drained, as requested with the change to {@link QueuePairState#SEND_QUEUE_DRAINED}. */
        SEND_QUEUE_DRAINED(5, "send queue drained"),
        /**
         * The device failed, or its network interface was removed. Its queue pairs are in the error state. After a
         * failure of a software device (an error in its code), new queue pairs work. After the removal, close the
         * device.
         */
        DEVICE_FATAL(8, "local catastrophic error"),
        /** The port (1 on a software device) came up: its network interface is up and has a carrier. */
        PORT_ACTIVE(9, "port active"),
        /** The port went down. Connections survive a short outage. */
        PORT_ERROR(10, "port error"),
        /** The InfiniBand subnet manager has changed the local identifier of the port. */
        LOCAL_IDENTIFIER_CHANGE(11, "LID change"),
        /** The InfiniBand subnet manager has changed the partition keys of the port. */
        PARTITION_KEY_CHANGE(12, "P_Key change"),
        /** Another InfiniBand subnet manager has taken over the port. */
        SUBNET_MANAGER_CHANGE(13, "SM change"),
        /** The shared receive queue failed. It is unusable. */
        SHARED_RECEIVE_QUEUE_ERROR(14, "SRQ catastrophic error"),
        /** The number of receives in the shared receive queue has fallen below its limit. */
        SHARED_RECEIVE_QUEUE_LIMIT_REACHED(15, "SRQ limit reached"),
        /** The queue pair is in the error state and no longer consumes receives of its shared receive queue. */
        QUEUE_PAIR_LAST_WORK_REQUEST_REACHED(16, "last WQE reached"),
        /** The InfiniBand subnet manager requests that all registrations, such as multicast groups, are made again. */
        CLIENT_REREGISTER(17, "client reregistration"),
        /** The GID table changed: the addresses of the network interface are different now. */
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
