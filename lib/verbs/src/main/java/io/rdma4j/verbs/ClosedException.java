package io.rdma4j.verbs;

/**
 * Thrown by a call on an object that is closed, or that another thread closes while the call waits. Its error is {@code
 * EINVAL}. A thread that serves an object until another thread closes it ends with this exception.
 *
 * <p>C has no counterpart: a C program must not use an object after destroying it.
 */
public final class ClosedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param operation the C name of the call, for example {@code rdma_get_cm_event}
     * @param details the object that is closed, a clause without a full stop
     * @param hint a remedy, as a sentence; may be empty
     */
    public ClosedException(String operation, String details, String hint) {
        super(operation, Errno.EINVAL, details, hint);
    }
}
