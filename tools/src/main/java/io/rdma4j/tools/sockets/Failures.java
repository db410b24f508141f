package io.rdma4j.tools.sockets;

import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.tools.Explanation;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;

/** What exceptions of sockets say, in the terms of C. */
final class Failures {
    private static final int MOST_PORT = 65_535;

    private Failures() {}

    /** The text of the error, as {@code perror} prints it: the message up to what RDMA knows beyond it. */
    static String text(IOException e) {
        String message = String.valueOf(e.getMessage());
        int more = message.indexOf(" (");
        String text = more < 0 ? message : message.substring(0, more);
        return text.equals("Connection reset") ? "Connection reset by peer" : text;
    }

    /** The rest of it; empty if there is nothing that {@link #text} does not say. */
    static String explanation(String call, IOException e) {
        if (e.getCause() instanceof RdmaException cause) {
            return Explanation.of(cause);
        }
        String message = String.valueOf(e.getMessage());
        int more = message.indexOf(" (");
        return more < 0 || !message.endsWith(")")
                ? ""
                : message.substring(more + 2, message.length() - 1) + " [" + call + "]";
    }

    /**
     * A port as typed.
     *
     * @throws AddressLookupException if it is none
     */
    static int port(String service) {
        try {
            int port = Integer.parseInt(service);
            if (port >= 0 && port <= MOST_PORT) {
                return port;
            }
        } catch (NumberFormatException name) {
            throw noService(service);
        }
        throw noService(service);
    }

    private static AddressLookupException noService(String service) {
        return new AddressLookupException(
                "getaddrinfo",
                AddressLookupException.Reason.SERVICE_UNKNOWN,
                "service '" + service + "'",
                "Give a port number, 0 to 65535");
    }
}
