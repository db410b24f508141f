package io.rdma4j.value;

/** The status of a completion. C: {@code enum ibv_wc_status}, with its numbers and texts. */
public enum CompletionStatus {
    /** The work request succeeded. */
    SUCCESS(0, "success"),
    /** A local buffer was too small for the message, or the message too long. */
    LOCAL_LENGTH_ERROR(1, "local length error"),
    /** The local queue pair found the work request inconsistent. */
    LOCAL_QUEUE_PAIR_OPERATION_ERROR(2, "local QP operation error"),
    /** Not used by reliable connections. */
    LOCAL_EE_CONTEXT_OPERATION_ERROR(3, "local EE context operation error"),
    /** A local buffer is not, or no longer, registered with the rights that the work request needs. */
    LOCAL_PROTECTION_ERROR(4, "local protection error"),
    /** The work request was not executed, because the queue pair entered the error state first. */
    WORK_REQUEST_FLUSHED_ERROR(5, "Work Request Flushed Error"),
    /** A memory window could not be bound because of its state or the region's rights or range. */
    MEMORY_WINDOW_BIND_ERROR(6, "memory management operation error"),
    /** The peer sent an invalid response. */
    BAD_RESPONSE_ERROR(7, "bad response error"),
    /** Access to a local buffer failed while a request of the peer was served. */
    LOCAL_ACCESS_ERROR(8, "local access error"),
    /** The peer rejected the request as a protocol violation. */
    REMOTE_INVALID_REQUEST_ERROR(9, "remote invalid request error"),
    /** The peer rejected the key, range or access rights. */
    REMOTE_ACCESS_ERROR(10, "remote access error"),
    /** The peer failed for a local reason. */
    REMOTE_OPERATION_ERROR(11, "remote operation error"),
    /** The peer did not respond to any of the retries. */
    RETRY_EXCEEDED_ERROR(12, "transport retry counter exceeded"),
    /** The peer had no receive posted during all retries. */
    RNR_RETRY_EXCEEDED_ERROR(13, "RNR retry counter exceeded"),
    /** Not used by reliable connections. */
    LOCAL_RDD_VIOLATION_ERROR(14, "local RDD violation error"),
    /** Not used by reliable connections. */
    REMOTE_INVALID_RD_REQUEST_ERROR(15, "remote invalid RD request"),
    /** The peer aborted the operation. */
    REMOTE_ABORTED_ERROR(16, "aborted error"),
    /** Not used by reliable connections. */
    INVALID_EE_CONTEXT_NUMBER_ERROR(17, "invalid EE context number"),
    /** Not used by reliable connections. */
    INVALID_EE_CONTEXT_STATE_ERROR(18, "invalid EE context state"),
    /** The device failed. */
    FATAL_ERROR(19, "fatal error"),
    /** No response was received in time. */
    RESPONSE_TIMEOUT_ERROR(20, "response timeout error"),
    /** Any other error. */
    GENERAL_ERROR(21, "general error");

    /** All constants. Their numbers have no gap. */
    private static final CompletionStatus[] BY_CODE = values();

    private final int code;
    private final String text;

    CompletionStatus(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** Returns the numeric value of {@code ibv_wc_status}. */
    public int code() {
        return code;
    }

    /** Returns a short description for users, the same as {@code ibv_wc_status_str}. */
    public String text() {
        return text;
    }

    /** Returns the constant of a number, or {@link #GENERAL_ERROR} for an unknown one. */
    public static CompletionStatus ofCode(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : GENERAL_ERROR;
    }
}
