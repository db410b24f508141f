package io.rdma4j.verbs;

/**
 * Thrown by a call on a connection that the peer has ended, or that ends while the call waits. Its error is {@code
 * ECONNRESET}. A call on a connection that this side has closed throws {@link ClosedException} instead.
 */
public final class DisconnectedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param operation the name of the call
     * @param details the connection and the reason why it ended, a clause without a full stop
     */
    public DisconnectedException(String operation, String details) {
        super(operation, Errno.ECONNRESET, details, "");
    }
}
