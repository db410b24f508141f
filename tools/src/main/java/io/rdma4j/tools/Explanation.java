package io.rdma4j.tools;

import io.rdma4j.verbs.RdmaException;

/** What an exception says beyond the name of its error. */
public final class Explanation {
    private Explanation() {}

    /** The sentences for a person, then the operation and the error by name; for behind a line of {@code perror}. */
    public static String of(RdmaException cause) {
        String message = String.valueOf(cause.getMessage());
        String known = cause.operation() + ": " + cause.errno().text() + " (" + cause.errno() + ")";
        String rest = message.startsWith(known) ? message.substring(known.length()) : ": " + message;
        rest = rest.startsWith(": ") || rest.startsWith(". ") ? rest.substring(2) : rest;
        return rest.isEmpty() ? message : rest + " [" + cause.operation() + ": " + cause.errno() + "]";
    }
}
