package io.rdma4j.cm.spi;

import io.rdma4j.cm.CmEvent;

/**
 * Receives the events of one identifier, in order. The provider's thread calls it under the provider's locks: the
 * methods only queue events, never block, and never call the provider.
 */
public interface CmEventSink {
    /**
     * Called for an event of the identifier.
     *
     * @param event an event that was not passed to a sink before; the reply on the active side is always a {@link
     *     CmEvent.ConnectResponse} here
     */
    void onEvent(CmEvent event);

    /**
     * Called when a connection request arrives at a listening identifier.
     *
     * @param child identifier of the new connection
     * @param event the request
     * @return the sink for the child's events
     */
    CmEventSink onConnectRequest(ProviderCmId child, CmEvent.ConnectRequest event);

    /**
     * Called for the child of a connection request that its peer has withdrawn, when the backlog of the listener is full: another
     * request arrives next, which takes its place. If the event of the request has not been taken, this method removes it
     * together with the child.
     *
     * @return true if the event was removed: the provider then closes the child; false if the application has taken it
     */
    default boolean onRequestDiscarded() {
        return false;
    }
}
