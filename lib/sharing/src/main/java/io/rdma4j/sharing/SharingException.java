package io.rdma4j.sharing;

import org.jspecify.annotations.Nullable;

/** The host, or another process, refuses to share a resource, such as an address or a port, with this process. */
public final class SharingException extends Exception {
    private static final long serialVersionUID = 1;

    /** The cause that a program can act on. */
    public enum Reason {
        /** Another process has the resource. */
        IN_USE,
        /** Another process has a part of the resource, or a resource that includes it. */
        UNAVAILABLE,
        /** No such resource is currently available. */
        EXHAUSTED,
        /** The other process does not answer. */
        NO_ANSWER,
        /** Other users may interfere. */
        UNTRUSTED,
        /** The system refuses; the cause has its error. */
        SYSTEM
    }

    private final Reason reason;
    private final String hint;

    /**
     * Creates the exception.
     *
     * @param details the refused request with its objects; for {@link Reason#SYSTEM} the step that has failed
     * @param hint a remedy, or an empty text
     */
    SharingException(Reason reason, String details, String hint, @Nullable Throwable cause) {
        super(details, cause);
        this.reason = reason;
        this.hint = hint;
    }

    /** Returns the cause that a program can act on. */
    public Reason reason() {
        return reason;
    }

    /** Returns the refused request with its objects. */
    public String details() {
        return String.valueOf(getMessage());
    }

    /** Returns a remedy, or an empty text. */
    public String hint() {
        return hint;
    }
}
