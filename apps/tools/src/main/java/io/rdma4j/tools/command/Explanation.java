package io.rdma4j.tools.command;

import io.rdma4j.verbs.RdmaException;

/** Formats the details that an exception carries beyond the name of its error. */
public final class Explanation {
    private Explanation() {}

    /**
     * Returns the explanation, followed by the operation and the error name. The text is meant to follow a line of
     * {@code perror}.
     */
    public static String of(RdmaException cause) {
        String message = String.valueOf(cause.getMessage());
        String known = cause.operation() + ": " + cause.errno().text() + " (" + cause.errno() + ")";
        String rest = message.startsWith(known) ? message.substring(known.length()) : ": " + message;
        rest = rest.startsWith(": ") || rest.startsWith(". ") ? rest.substring(2) : rest;
        return rest.isEmpty() ? message : rest + " [" + cause.operation() + ": " + cause.errno() + "]";
    }
}
