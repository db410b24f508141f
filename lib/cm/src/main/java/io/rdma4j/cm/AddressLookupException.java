package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/**
 * Thrown when a name, address or service cannot be looked up. Its error is {@code ENOENT}. {@link #code} returns the
 * code of C's {@code rdma_getaddrinfo}.
 */
public final class AddressLookupException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /** The errors of {@code getaddrinfo}, with glibc's numbers and texts. Source: getaddrinfo(3). */
    public enum Reason {
        /** The name is unknown, or is not an address although an address is required. */
        NAME_UNKNOWN(-2, "Name or service not known"),
        /** The resolver is temporarily unable to reply. */
        TRY_AGAIN(-3, "Temporary failure in name resolution"),
        /** The resolver failed. */
        FAILED(-4, "Non-recoverable failure in name resolution"),
        /** The name is known but has no address. */
        NO_ADDRESS(-5, "No address associated with hostname"),
        /** The service is unknown. */
        SERVICE_UNKNOWN(-8, "Servname not supported for ai_socktype"),
        /** The address does not belong to the requested family. */
        WRONG_FAMILY(-9, "Address family for hostname not supported");

        private final int code;
        private final String text;

        Reason(int code, String text) {
            this.code = code;
            this.text = text;
        }

        /** Returns the negative number of {@code EAI_…}. */
        public int code() {
            return code;
        }

        /** Returns the text of {@code gai_strerror}. */
        public String text() {
            return text;
        }
    }

    private final Reason reason;

    /**
     * Creates an exception.
     *
     * @param operation the C name of the call
     * @param reason the error
     * @param details the node or service that was looked up
     * @param hint a sentence that suggests a remedy; may be empty
     */
    public AddressLookupException(String operation, Reason reason, String details, String hint) {
        super(operation, Errno.ENOENT, details + ": " + reason.text(), hint);
        this.reason = reason;
    }

    /** Returns the error. */
    public Reason reason() {
        return reason;
    }

    /** Returns the negative number that C's {@code getaddrinfo} and {@code rdma_getaddrinfo} return. */
    public int code() {
        return reason.code();
    }
}
