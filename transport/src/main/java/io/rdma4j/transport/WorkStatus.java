package io.rdma4j.transport;

/**
 * The status of a completed work request. Codes are those of {@code ibv_wc_status}. Each constant names the faulty side
 * and its meaning for a reliable connection. Source: InfiniBand Architecture volume 1, 11.6.2.
 */
public enum WorkStatus {
    /** The work request completed successfully. */
    SUCCESS(0),
    /** A local buffer was too small for the received message, or a message exceeded the allowed length. */
    LOCAL_LENGTH_ERROR(1),
    /** The local queue pair found the work request inconsistent. */
    LOCAL_QUEUE_PAIR_OPERATION_ERROR(2),
    /** A local buffer is not, or no longer, registered with the access that the work request needs. */
    LOCAL_PROTECTION_ERROR(4),
    /** The queue pair entered the error state before the work request completed. */
    WORK_REQUEST_FLUSHED_ERROR(5),
    /** A memory window could not be bound because of its state or the region's rights or range. */
    MEMORY_WINDOW_BIND_ERROR(6),
    /** The peer sent an invalid response. */
    BAD_RESPONSE_ERROR(7),
    /** A protection error occurred in a local buffer while the peer was being served. */
    LOCAL_ACCESS_ERROR(8),
    /** The peer rejected the request as invalid (NAK invalid request). */
    REMOTE_INVALID_REQUEST_ERROR(9),
    /** The peer rejected the key, range or access right (NAK remote access error). */
    REMOTE_ACCESS_ERROR(10),
    /** The peer had a local failure while serving the request (NAK remote operational error). */
    REMOTE_OPERATION_ERROR(11),
    /** The peer did not respond within all retries. */
    RETRY_EXCEEDED_ERROR(12),
    /** The peer had no receive posted within all retries. */
    RNR_RETRY_EXCEEDED_ERROR(13);

    private final int code;

    WorkStatus(int code) {
        this.code = code;
    }

    /** Returns the value of {@code ibv_wc_status}. */
    public int code() {
        return code;
    }
}
