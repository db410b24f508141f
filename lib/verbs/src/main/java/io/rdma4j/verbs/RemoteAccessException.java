package io.rdma4j.verbs;

import io.rdma4j.value.CompletionStatus;

/**
 * Thrown when the peer's device refuses access to the peer's memory. The key is unknown or no longer valid, the range
 * exceeds the region, or the region does not grant the right. The peer's device ends the connection with this error.
 */
public final class RemoteAccessException extends WorkRequestException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param operation the name of the call
     * @param details the connection and the explanation of the status, a clause without a full stop
     */
    public RemoteAccessException(String operation, String details) {
        super(operation, CompletionStatus.REMOTE_ACCESS_ERROR, details);
    }
}
