package io.rdma4j.transport;

/**
 * How a work request ended. The numbers are those of {@code ibv_wc_status}; each constant says who is to blame and what
 * it means for a reliable connection. Source: InfiniBand Architecture volume 1, 11.6.2.
 */
public enum WorkStatus {
    /** The work request is done. */
    SUCCESS(0),
    /** A local buffer was too small for the message received, or a message was longer than allowed. */
    LOCAL_LENGTH_ERROR(1),
    /** The queue pair found an inconsistency of its own in the work request. */
    LOCAL_QUEUE_PAIR_OPERATION_ERROR(2),
    /** A local buffer is not, or no longer, registered for what the work request does with it. */
    LOCAL_PROTECTION_ERROR(4),
    /** The queue pair went into the error state before the work request was done. */
    WORK_REQUEST_FLUSHED_ERROR(5),
    /** A memory window could not be bound: its state, or the region's rights or range. */
    MEMORY_WINDOW_BIND_ERROR(6),
    /** The peer answered with a packet that cannot be the answer. */
    BAD_RESPONSE_ERROR(7),
    /** A protection error in a local buffer while serving the peer. */
    LOCAL_ACCESS_ERROR(8),
    /** The peer found the request against the rules (NAK invalid request). */
    REMOTE_INVALID_REQUEST_ERROR(9),
    /** The peer found the key, range or rights wrong (NAK remote access error). */
    REMOTE_ACCESS_ERROR(10),
    /** The peer failed by itself while serving the request (NAK remote operational error). */
    REMOTE_OPERATION_ERROR(11),
    /** The peer did not answer within all retries. */
    RETRY_EXCEEDED_ERROR(12),
    /** The peer had no receive posted within all retries. */
    RNR_RETRY_EXCEEDED_ERROR(13);

    private final int code;

    WorkStatus(int code) {
        this.code = code;
    }

    /** The number of {@code ibv_wc_status}. */
    public int code() {
        return code;
    }
}
