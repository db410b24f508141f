package io.rdma4j.cm.spi;

import io.rdma4j.cm.CmEvent;

/**
 * Receives the events of one identifier, in order. The provider's thread calls it under the provider's locks, so the
 * methods only queue events, never block, and never call the provider.
 */
public interface CmEventSink {
    /**
     * Called for an event of the identifier.
     *
     * @param event an event that was not passed to a sink before. The reply on the active side is a {@link
     *     CmEvent.ConnectResponse}; only on iWARP it is a {@link CmEvent.Established}
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
     * Called for the child of a connection request that the peer has withdrawn, if the listener's backlog is full. A
     * new request then takes its place. If the application has not taken the event of the request, this method removes
     * it.
     *
     * @return true if the event was removed, and the provider must close the child; false if the application has taken
     *     it
     */
    default boolean onRequestDiscarded() {
        return false;
    }
}
