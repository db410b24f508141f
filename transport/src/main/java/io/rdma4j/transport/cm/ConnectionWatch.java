package io.rdma4j.transport.cm;

/** Observes when the connections of an agent are established and when they end. */
public interface ConnectionWatch {
    /** Ignores all notifications. */
    ConnectionWatch NONE = new ConnectionWatch() {
        @Override
        public void onEstablished(CmConnection connection) {}

        @Override
        public void onOver(CmConnection connection) {}
    };

    /** Called when a connection is established, or its peer considers it established. */
    void onEstablished(CmConnection connection);

    /**
     * Called when the peer of an established connection no longer needs a DREQ: it has disconnected, has replied, or is
     * given up.
     */
    void onOver(CmConnection connection);
}
