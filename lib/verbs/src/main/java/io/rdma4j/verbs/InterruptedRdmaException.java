package io.rdma4j.verbs;

/**
 * Thrown by a waiting call if its thread is interrupted. Its error is {@code EINTR}. The thread's interrupt status
 * stays set.
 */
public final class InterruptedRdmaException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param operation the name of the call
     * @param details the object that the call waited for, a clause without a full stop; may be empty
     * @param hint a remedy, as a sentence; may be empty
     */
    public InterruptedRdmaException(String operation, String details, String hint) {
        super(operation, Errno.EINTR, details, hint);
    }
}
