package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.Explanation;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;

/** Converts socket exceptions to the texts that C prints. */
final class Failures {
    private Failures() {}

    /** Returns the text that {@code perror} prints: the message without the explanation in parentheses. */
    static String text(IOException e) {
        String message = String.valueOf(e.getMessage());
        int detail = message.indexOf(" (");
        String text = detail < 0 ? message : message.substring(0, detail);
        return text.equals("Connection reset") ? "Connection reset by peer" : text;
    }

    /** Returns the explanation that {@link #text} omits, or an empty string if there is none. */
    static String explanation(String call, IOException e) {
        if (e.getCause() instanceof RdmaException cause) {
            return Explanation.of(cause);
        }
        String message = String.valueOf(e.getMessage());
        int detail = message.indexOf(" (");
        return detail < 0 || !message.endsWith(")")
                ? ""
                : message.substring(detail + 2, message.length() - 1) + " [" + call + "]";
    }
}
