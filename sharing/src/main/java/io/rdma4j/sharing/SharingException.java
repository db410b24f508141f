package io.rdma4j.sharing;

import org.jspecify.annotations.Nullable;

/** The host, or a process of it, does not let this process share what it needs. */
public final class SharingException extends Exception {
    private static final long serialVersionUID = 1;

    /** The kind of a refusal. */
    public enum Reason {
        /** Another process has it. */
        IN_USE,
        /** Another process has a part of it, or something that includes it. */
        UNAVAILABLE,
        /** There is none left for now. */
        EXHAUSTED,
        /** The process that has to answer does not. */
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
     * @param details the refusal, with its objects; for {@link Reason#SYSTEM} the step that has failed
     * @param hint advice, or empty
     */
    SharingException(Reason reason, String details, String hint, @Nullable Throwable cause) {
        super(details, cause);
        this.reason = reason;
        this.hint = hint;
    }

    /** Returns the kind of the refusal. */
    public Reason reason() {
        return reason;
    }

    /** Returns the refusal, with its objects. */
    public String details() {
        return String.valueOf(getMessage());
    }

    /** Returns advice, or an empty text. */
    public String hint() {
        return hint;
    }
}
