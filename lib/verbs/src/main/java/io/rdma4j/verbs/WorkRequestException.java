package io.rdma4j.verbs;

import io.rdma4j.value.CompletionStatus;

/**
 * Thrown by a call that executes a work request and waits for it, if the work request fails. Its error is {@code EIO}.
 * Calls that only poll return completions with the status instead.
 */
public class WorkRequestException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final CompletionStatus status;

    /**
     * Creates an exception.
     *
     * @param operation the name of the call
     * @param status the status of the completion, not {@link CompletionStatus#SUCCESS}
     * @param details the connection and the explanation of the status, a clause without a full stop
     */
    protected WorkRequestException(String operation, CompletionStatus status, String details) {
        super(operation, Errno.EIO, details, "");
        this.status = status;
    }

    /**
     * Returns the exception for a status.
     *
     * @param operation the name of the call
     * @param status the status of the completion, not {@link CompletionStatus#SUCCESS}
     * @param details the connection and the explanation of the status, a clause without a full stop
     */
    public static WorkRequestException of(String operation, CompletionStatus status, String details) {
        return status == CompletionStatus.REMOTE_ACCESS_ERROR
                ? new RemoteAccessException(operation, details)
                : new WorkRequestException(operation, status, details);
    }

    /** Returns the status of the work request's completion. */
    public CompletionStatus status() {
        return status;
    }
}
