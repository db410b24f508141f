package io.rdma4j.hardware.cm;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.cm.spi.ConnectionExplanations;
import io.rdma4j.verbs.Errno;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Explains the failures that the kernel's connection manager reports by events. */
final class CmFailures {
    private static final String TCP_PORT_OPEN = "its TCP port is open";

    private CmFailures() {}

    /** Returns the text and the name of an errno, which may be negated. */
    static String errno(int number) {
        Errno errno = Errno.of(number);
        return errno.text() + " (" + errno + ")";
    }

    /** Explains that an address or a route could not be resolved. */
    static String unresolved(String what, String ends, int status) {
        String remedy = CmRemedies.of("rdma_resolve_addr", Errno.of(status));
        return "no " + what + " found from " + ends + ": " + errno(status) + (remedy.isEmpty() ? "" : ". " + remedy);
    }

    /** Explains a rejection by its reason, or on iWARP by its negated errno. */
    static String rejected(String ends, @Nullable InetSocketAddress peer, int status) {
        if (status >= 0) {
            return ConnectionExplanations.rejected(ends, peer, status);
        }
        return "connection from " + ends + " was rejected: " + errno(status) + ": nobody listens on "
                + (peer == null ? "this port" : "port " + peer.getPort() + " of " + AddressText.of(peer.getAddress()))
                + ", or the peer's application rejected the connection. Its private data may contain the reason";
    }

    /** Explains that a peer did not answer, or refused a datagram service by a positive status. */
    static String unreachable(
            String ends, @Nullable InetSocketAddress peer, int status, boolean isActive, boolean isIwarp) {
        if (status > 0) {
            return ConnectionExplanations.serviceRefused(ends, peer, status);
        }
        String port = isIwarp ? TCP_PORT_OPEN : ConnectionExplanations.ROCE_PORT_OPEN;
        return isActive
                ? ConnectionExplanations.noAnswerToRequest(ends, port)
                : ConnectionExplanations.noAnswerToReply(ends, port);
    }

    /** Explains that a connection could not be made for another reason. */
    static String notConnected(String ends, int status) {
        return "connection from " + ends + " could not be made: " + errno(status);
    }

    /** Explains that a device was removed. */
    static String removed(String device) {
        return "The device " + device + " was removed. Close the identifier and the objects that use it.";
    }
}
