package io.rdma4j.cm.spi;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import org.jspecify.annotations.Nullable;

/**
 * An event reported by a provider. Immutable.
 *
 * @param type the type; the reply on the active side is always {@code CONNECT_RESPONSE} here
 * @param status 0, a negative errno, or a positive reject reason
 * @param connection parameters of the peer's message, with the two depths already swapped to the receiver's
 *     perspective, and the whole private data field of the message
 * @param datagram parameters for sending to a datagram service or multicast group, or null
 * @param membership for a multicast event, the object passed to {@link ProviderCmId#joinMulticast}; else null
 * @param enhancement connection enhancement options of the peer's message, or none
 * @param argument for an event written by the application, its argument; else 0
 * @param explanation one or two sentences that explain a failure; empty for other events
 */
public record ProviderEvent(
        CmEvent.Type type,
        int status,
        ConnectionParameters connection,
        @Nullable DatagramParameters datagram,
        @Nullable Object membership,
        ConnectionEnhancement enhancement,
        long argument,
        String explanation) {
    /** Creates an event of a connection, or one without data. */
    public ProviderEvent(CmEvent.Type type, int status, ConnectionParameters connection, String explanation) {
        this(type, status, connection, null, null, ConnectionEnhancement.NONE, 0, explanation);
    }

    /** Creates an event of a datagram service. */
    public ProviderEvent(CmEvent.Type type, int status, ConnectionParameters connection, DatagramParameters datagram) {
        this(type, status, connection, datagram, null, ConnectionEnhancement.NONE, 0, "");
    }

    /** Returns an event without data. */
    public static ProviderEvent of(CmEvent.Type type) {
        return new ProviderEvent(type, 0, ConnectionParameters.NONE, "");
    }

    /** Returns the event of a peer's request or reply. */
    public static ProviderEvent ofMessage(
            CmEvent.Type type, ConnectionParameters connection, ConnectionEnhancement enhancement) {
        return new ProviderEvent(type, 0, connection, null, null, enhancement, 0, "");
    }

    /** Returns the event of a joined multicast group. */
    public static ProviderEvent joined(Object membership, DatagramParameters group) {
        return ofGroup(CmEvent.Type.MULTICAST_JOIN, 0, group, membership, "");
    }

    /** Returns the event of a multicast group that could not be joined. */
    public static ProviderEvent notJoined(Object membership, int status, String explanation) {
        return ofGroup(CmEvent.Type.MULTICAST_ERROR, status, null, membership, explanation);
    }

    private static ProviderEvent ofGroup(
            CmEvent.Type type, int status, @Nullable DatagramParameters group, Object membership, String explanation) {
        return new ProviderEvent(
                type, status, ConnectionParameters.NONE, group, membership, ConnectionEnhancement.NONE, 0, explanation);
    }

    /** Returns an event written by the application. */
    public static ProviderEvent written(CmEvent.Type type, int status, long argument) {
        return new ProviderEvent(
                type, status, ConnectionParameters.NONE, null, null, ConnectionEnhancement.NONE, argument, "");
    }
}
