package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.net.SocketException;

/** Translates failures of RDMA to exceptions of java.net. The message is java.net's, followed by details of RDMA. */
final class SocketFailures {
    private SocketFailures() {}

    static IOException of(RdmaException failure) {
        return ofAny(failure);
    }

    /** Translates any failure, including a lack of memory or a bug. */
    static IOException ofAny(Throwable failure) {
        IOException exception = switch (failure) {
            case RdmaException refused -> of(refused.errno(), String.valueOf(refused.getMessage()));
            case OutOfMemoryError _ ->
                of(Errno.ENOMEM, failure.getMessage() + "; smaller buffers or a larger heap may help");
            default -> new SocketException("Unexpected failure (" + failure + ")");
        };
        exception.initCause(failure);
        return exception;
    }

    private static IOException of(Errno errno, String details) {
        return switch (errno) {
            case EADDRINUSE, EADDRNOTAVAIL, EACCES -> new BindException(text(errno, details));
            case ECONNREFUSED, ETIMEDOUT -> new ConnectException(text(errno, details));
            case ENODEV, ENETUNREACH, EHOSTUNREACH -> new NoRouteToHostException(text(errno, details));
            default -> new SocketException(text(errno, details));
        };
    }

    /** Returns whether a failure to bind is {@code EADDRNOTAVAIL}. */
    static boolean isUnavailable(BindException failure) {
        return failure.getCause() instanceof RdmaException refused && refused.errno() == Errno.EADDRNOTAVAIL;
    }

    /** Translates a failure to bind that was caused by the port. */
    static IOException portInUse(BindException failure) {
        Throwable cause = failure.getCause();
        BindException named =
                new BindException(text(Errno.EADDRINUSE, cause == null ? "" : String.valueOf(cause.getMessage())));
        named.initCause(cause);
        return named;
    }

    private static String text(Errno errno, String details) {
        return details.isEmpty() ? errno.text() : errno.text() + " (" + details + ")";
    }

    /** Returns the reason why a connection attempt ended with this event. */
    static IOException ofConnect(CmEvent event) {
        Errno errno = switch (event.type()) {
            case REJECTED -> Errno.ECONNREFUSED;
            case UNREACHABLE -> Errno.ETIMEDOUT;
            case ADDRESS_ERROR, ROUTE_ERROR -> Errno.EHOSTUNREACH;
            default -> Errno.ECONNRESET;
        };
        return of(errno, event.explanation());
    }

    static IOException reset(String why) {
        return new SocketException("Connection reset" + (why.isEmpty() ? "" : " (" + why + ")"));
    }

    /** Creates an exception for an unreachable port; the exception of the JDK has no message. */
    static PortUnreachableException portUnreachable(PortUnreachableException refused) {
        PortUnreachableException named = new PortUnreachableException(
                Errno.ECONNREFUSED.text() + " (no UDP socket is bound to the destination port of an earlier datagram)");
        named.initCause(refused);
        return named;
    }
}
