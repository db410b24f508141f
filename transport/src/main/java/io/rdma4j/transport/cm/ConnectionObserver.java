package io.rdma4j.transport.cm;

/** Observes when the connections of an agent are established and when they end. */
public interface ConnectionObserver {
    /** Ignores all notifications. */
    ConnectionObserver NONE = new ConnectionObserver() {
        @Override
        public void onEstablished(CmConnection connection) {}

        @Override
        public void onClosed(CmConnection connection) {}
    };

    /** Called when a connection is established, or its peer considers it established. */
    void onEstablished(CmConnection connection);

    /**
     * Called when the peer of an established connection no longer needs a DREQ: it has disconnected, has replied, or is
     * given up.
     */
    void onClosed(CmConnection connection);
}
