package io.rdma4j.soft.cm;

import io.rdma4j.cm.RejectReason;
import io.rdma4j.cm.host.AddressText;
import io.rdma4j.wire.cm.SidrRep;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Explains failed connection events: addresses, device and GID, the reason by name, and what to try. */
final class ConnectionExplanations {
    private ConnectionExplanations() {}

    /** Returns both ends with device and GID, as far as they are known. */
    static String ends(
            @Nullable InetSocketAddress local,
            @Nullable InetSocketAddress peer,
            @Nullable LocalEndpoint localEndpoint) {
        StringBuilder text = new StringBuilder();
        text.append(local == null ? "no address" : AddressText.of(local));
        if (peer != null) {
            text.append(" to ").append(AddressText.of(peer));
        }
        if (localEndpoint != null) {
            text.append(" (device ").append(localEndpoint.device().name());
            text.append(", GID ").append(localEndpoint.wireGid()).append(" at index ");
            text.append(localEndpoint.gidIndex()).append(')');
        }
        return text.toString();
    }

    static String rejected(String ends, @Nullable InetSocketAddress peer, int reason) {
        return "connection from " + ends + " was rejected: " + RejectReason.text(reason) + meaning(peer, reason);
    }

    static String serviceRefused(String ends, @Nullable InetSocketAddress peer, int status) {
        String meaning = switch (status) {
            case SidrRep.STATUS_UNSUPPORTED ->
                "no process serves "
                        + (peer == null
                                ? "this port"
                                : "port " + peer.getPort() + " of " + AddressText.of(peer.getAddress()))
                        + ". Start the server, or check its address and port";
            case SidrRep.STATUS_REJECTED ->
                "the peer's application rejected the request. Its private data may contain the reason";
            case SidrRep.STATUS_NO_QUEUE_PAIR -> "the peer has no free queue pair. Try again later";
            case SidrRep.STATUS_REDIRECT -> "the service has moved. Its private data may contain its address";
            default -> "status " + status + ". The peer's log may say more";
        };
        return "datagram service requested from " + ends + " was refused: " + meaning;
    }

    private static String meaning(@Nullable InetSocketAddress peer, int reason) {
        if (reason == RejectReason.INVALID_SERVICE_ID.code()) {
            String listener = peer == null
                    ? ""
                    : ": nobody listens on port " + peer.getPort() + " of " + AddressText.of(peer.getAddress());
            return listener + ". Start the server, or check its address and port";
        }
        if (reason == RejectReason.CONSUMER_DEFINED.code()) {
            return ": the peer's application rejected the connection, or its listener does not accept this address. Its"
                    + " private data may contain the reason";
        }
        if (reason == RejectReason.STALE_CONNECTION.code()) {
            return ": the peer still holds an older connection of this queue pair. Try again in a few seconds";
        }
        if (reason == RejectReason.TIMEOUT.code()) {
            return ": the peer timed out while it waited for a reply. Check the load and the packet loss between the"
                    + " two hosts";
        }
        if (reason == RejectReason.INVALID_GID.code()) {
            return ": the peer cannot use one of the two addresses. Check that both are in one routed network";
        }
        if (reason == RejectReason.INVALID_PATH_MTU.code()) {
            return ": the peer's network interface carries smaller packets only. Set the same MTU on both interfaces";
        }
        return ". The peer's log may say more";
    }

    static String noAnswerToRequest(String ends) {
        return "connection from " + ends
                + ": the peer did not answer the connection request (ETIMEDOUT). Check that the"
                + " host is up and that UDP port 4791 is open both ways";
    }

    static String noAnswerToReply(String ends) {
        return "connection at " + ends + ": the peer did not confirm the accepted connection (ETIMEDOUT). Check that it"
                + " still runs and that UDP port 4791 is open both ways";
    }

    static String disconnectUnanswered(String ends) {
        return "connection from " + ends + ": the peer did not confirm the disconnect (ETIMEDOUT); it may have exited"
                + " without disconnecting";
    }

    static String noDevice(String local, String peer) {
        return "cannot reach " + peer + ": no RDMA device has " + local + ", the address of this host that leads there"
                + " (ENODEV). Use another source address, or bring the network interface up";
    }
}
