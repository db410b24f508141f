package io.rdma4j.verbs;

/**
 * Thrown when a call of the verbs or of the connection manager fails. The message names the operation, the objects and
 * addresses involved, the error and, if one is known, a remedy.
 *
 * <p>A call throws it only for its own failure. The status of a completion or an event reports a later failure.
 * Decision 003 explains why this exception is unchecked.
 */
public class RdmaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String operation;
    private final Errno errno;
    private final String hint;

    /**
     * Creates an exception.
     *
     * @param operation the C name of the call, for example {@code rdma_bind_addr}
     * @param errno the error
     * @param details the objects and addresses, a clause without a full stop; may be empty
     * @param hint a remedy, as a sentence; may be empty
     */
    public RdmaException(String operation, Errno errno, String details, String hint) {
        super(message(operation, errno, details, hint));
        this.operation = operation;
        this.errno = errno;
        this.hint = hint;
    }

    /** Creates an exception with a cause; see {@link #RdmaException(String, Errno, String, String)}. */
    public RdmaException(String operation, Errno errno, String details, String hint, Throwable cause) {
        super(message(operation, errno, details, hint), cause);
        this.operation = operation;
        this.errno = errno;
        this.hint = hint;
    }

    private static String message(String operation, Errno errno, String details, String hint) {
        StringBuilder text = new StringBuilder(operation).append(": ").append(errno.text());
        text.append(" (").append(errno).append(')');
        if (!details.isEmpty()) {
            text.append(": ").append(details);
        }
        if (!hint.isEmpty()) {
            text.append(". ").append(hint);
        }
        return text.toString();
    }

    /** Returns the C name of the call that failed. */
    public String operation() {
        return operation;
    }

    /** Returns the error. */
    public Errno errno() {
        return errno;
    }

    /** Returns the remedy, or an empty string. */
    public String hint() {
        return hint;
    }
}
