package io.rdma4j.cm.spi;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionParameters;

/**
 * An event as the provider reports it.
 *
 * @param type what happened; the active side's reply is always {@code CONNECT_RESPONSE} here
 * @param status 0, a negative errno, or a positive reject reason
 * @param connection what the peer's message says, with the two depths already swapped to the receiver's view, and all
 *     bytes of the message's private data field
 * @param explanation one or two sentences for people; empty where nothing failed
 */
public record ProviderEvent(CmEvent.Type type, int status, ConnectionParameters connection, String explanation) {
    /** An event that carries nothing. */
    public static ProviderEvent of(CmEvent.Type type) {
        return new ProviderEvent(type, 0, ConnectionParameters.NONE, "");
    }
}
