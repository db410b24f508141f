package io.rdma4j.cm.spi;

/**
 * Takes the events of one identifier. Called in the provider's thread, under its locks: the methods only queue, never
 * block and never call the provider back. Events of one identifier are given in order.
 */
public interface CmEventSink {
    /** Something happened to the identifier. */
    void onEvent(ProviderEvent event);

    /**
     * A connection request arrived at a listening identifier.
     *
     * @param child identifier of the new connection
     * @param event of type {@code CONNECT_REQUEST}
     * @return where the child's events go
     */
    CmEventSink onConnectRequest(ProviderCmId child, ProviderEvent event);
}
