package io.rdma4j.verbs;

/** Thrown by a waiting call after its timeout. Its error is {@code ETIMEDOUT}. */
public final class RdmaTimeoutException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param operation the name of the call
     * @param details the object that the call waited for, a clause without a full stop; may be empty
     * @param hint a remedy, as a sentence; may be empty
     */
    public RdmaTimeoutException(String operation, String details, String hint) {
        super(operation, Errno.ETIMEDOUT, details, hint);
    }
}
