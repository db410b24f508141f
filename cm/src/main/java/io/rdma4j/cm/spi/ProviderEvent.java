package io.rdma4j.cm.spi;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import org.jspecify.annotations.Nullable;

/**
 * An event as the provider reports it.
 *
 * @param type what happened; the active side's reply is always {@code CONNECT_RESPONSE} here
 * @param status 0, a negative errno, or a positive reject reason
 * @param connection what the peer's message says, with the two depths already swapped to the receiver's view, and all
 *     bytes of the message's private data field
 * @param datagram how to reach a datagram service or multicast group, or null
 * @param membership of an event of multicast: what {@link ProviderCmId#joinMulticast} was given; else null
 * @param enhancement connection enhancement options of the peer's message, or none
 * @param argument of an event that the application wrote: its number; else 0
 * @param explanation one or two sentences for people; empty where nothing failed
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
    /** An event of a connection, or one that carries nothing. */
    public ProviderEvent(CmEvent.Type type, int status, ConnectionParameters connection, String explanation) {
        this(type, status, connection, null, null, ConnectionEnhancement.NONE, 0, explanation);
    }

    /** An event of a datagram service. */
    public ProviderEvent(CmEvent.Type type, int status, ConnectionParameters connection, DatagramParameters datagram) {
        this(type, status, connection, datagram, null, ConnectionEnhancement.NONE, 0, "");
    }

    /** An event that carries nothing. */
    public static ProviderEvent of(CmEvent.Type type) {
        return new ProviderEvent(type, 0, ConnectionParameters.NONE, "");
    }

    /** The event of a peer's request or reply. */
    public static ProviderEvent said(
            CmEvent.Type type, ConnectionParameters connection, ConnectionEnhancement enhancement) {
        return new ProviderEvent(type, 0, connection, null, null, enhancement, 0, "");
    }

    /** The event of a group that is joined. */
    public static ProviderEvent joined(Object membership, DatagramParameters group) {
        return ofGroup(CmEvent.Type.MULTICAST_JOIN, 0, group, membership, "");
    }

    /** The event of a group that could not be joined. */
    public static ProviderEvent notJoined(Object membership, int status, String explanation) {
        return ofGroup(CmEvent.Type.MULTICAST_ERROR, status, null, membership, explanation);
    }

    private static ProviderEvent ofGroup(
            CmEvent.Type type, int status, @Nullable DatagramParameters group, Object membership, String explanation) {
        return new ProviderEvent(
                type, status, ConnectionParameters.NONE, group, membership, ConnectionEnhancement.NONE, 0, explanation);
    }

    /** The event that an application wrote. */
    public static ProviderEvent written(CmEvent.Type type, int status, long argument) {
        return new ProviderEvent(
                type, status, ConnectionParameters.NONE, null, null, ConnectionEnhancement.NONE, argument, "");
    }
}
