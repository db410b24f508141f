package io.rdma4j.cm.spi;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.value.RejectReason;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Explains failed connection events: addresses, device, GID, the name of the reason, and a remedy. */
public final class ConnectionExplanations {
    /** The RoCE port that must be open, as a clause for {@link #noAnswerToRequest} and {@link #noAnswerToReply}. */
    public static final String ROCE_PORT_OPEN = "UDP port 4791 is open both ways";

    /** The status of a reply to a request for a datagram service (IBA volume 1, 12.11.1). */
    private static final int NOT_SUPPORTED = 1;

    private static final int REJECTED = 2;
    private static final int NO_QUEUE_PAIR = 3;
    private static final int REDIRECTED = 4;

    private ConnectionExplanations() {}

    /**
     * Returns the known ends of a connection, as text.
     *
     * @param device the device with its GID, or null without a device
     */
    public static String ends(
            @Nullable InetSocketAddress local, @Nullable InetSocketAddress peer, @Nullable String device) {
        StringBuilder text = new StringBuilder();
        text.append(local == null ? "no address" : AddressText.of(local));
        if (peer != null) {
            text.append(" to ").append(AddressText.of(peer));
        }
        if (device != null) {
            text.append(" (device ").append(device).append(')');
        }
        return text.toString();
    }

    /** Explains that a connection from one end to the other was rejected for a reason. */
    public static String rejected(String ends, @Nullable InetSocketAddress peer, int reason) {
        return "connection from " + ends + " was rejected: " + RejectReason.text(reason) + meaning(peer, reason);
    }

    /** Explains that a datagram service was refused with a status. */
    public static String serviceRefused(String ends, @Nullable InetSocketAddress peer, int status) {
        String meaning = switch (status) {
            case NOT_SUPPORTED ->
                "no process serves "
                        + (peer == null
                                ? "this port"
                                : "port " + peer.getPort() + " of " + AddressText.of(peer.getAddress()))
                        + ". Start the server, or check its address and port";
            case REJECTED -> "the peer's application rejected the request. Its private data may contain the reason";
            case NO_QUEUE_PAIR -> "the peer has no free queue pair. Try again later";
            case REDIRECTED -> "the service has moved. Its private data may contain its address";
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

    /**
     * Explains that a peer did not answer a connection request.
     *
     * @param openPort the port that must be open, as a clause: {@link #ROCE_PORT_OPEN}
     */
    public static String noAnswerToRequest(String ends, String openPort) {
        return "connection from " + ends
                + ": the peer did not answer the connection request (ETIMEDOUT). Check that the"
                + " host is up and that " + openPort;
    }

    /** Explains that a peer did not confirm a connection; see {@link #noAnswerToRequest}. */
    public static String noAnswerToReply(String ends, String openPort) {
        return "connection at " + ends + ": the peer did not confirm the accepted connection (ETIMEDOUT). Check that it"
                + " still runs and that " + openPort;
    }

    /** Explains that a peer did not confirm a disconnect. */
    public static String disconnectUnanswered(String ends) {
        return "connection from " + ends + ": the peer did not confirm the disconnect (ETIMEDOUT); it may have exited"
                + " without disconnecting";
    }

    /** Explains that no device has the local address that leads to a peer. */
    public static String noDevice(String local, String peer) {
        return "cannot reach " + peer + ": no RDMA device has " + local + ", the address of this host that leads there"
                + " (ENODEV). Use another source address, or bring the network interface up";
    }
}
