package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/**
 * A name, address or service that could not be looked up. Its errno is {@code ENOENT}; what C's {@code rdma_getaddrinfo}
 * returns is {@link #code}.
 */
public final class AddressLookupException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /** Reasons of {@code getaddrinfo}, with glibc's numbers and texts. Source: getaddrinfo(3). */
    public enum Reason {
        /** The name is not known, or is no address where only an address may be. */
        NAME_UNKNOWN(-2, "Name or service not known"),
        /** The resolver could not answer now. */
        TRY_AGAIN(-3, "Temporary failure in name resolution"),
        /** The resolver failed. */
        FAILED(-4, "Non-recoverable failure in name resolution"),
        /** The name is known and has no address. */
        NO_ADDRESS(-5, "No address associated with hostname"),
        /** The service is not known. */
        SERVICE_UNKNOWN(-8, "Servname not supported for ai_socktype"),
        /** The address is not one of the family asked for. */
        WRONG_FAMILY(-9, "Address family for hostname not supported");

        private final int code;
        private final String text;

        Reason(int code, String text) {
            this.code = code;
            this.text = text;
        }

        /** The negative number of {@code EAI_…}. */
        public int code() {
            return code;
        }

        /** The text of {@code gai_strerror}. */
        public String text() {
            return text;
        }
    }

    private final Reason reason;

    /**
     * Creates an exception.
     *
     * @param operation the C name of the call
     * @param reason why
     * @param details what was looked up
     * @param hint what to try, a sentence; may be empty
     */
    public AddressLookupException(String operation, Reason reason, String details, String hint) {
        super(operation, Errno.ENOENT, details + ": " + reason.text(), hint);
        this.reason = reason;
    }

    /** Why. */
    public Reason reason() {
        return reason;
    }

    /** The negative number that C's {@code getaddrinfo} and {@code rdma_getaddrinfo} return. */
    public int code() {
        return reason.code();
    }
}
