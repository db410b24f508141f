package io.rdma4j.transport.cm;

/** Who is told of all connections of an agent, from their beginning to their end. */
public interface ConnectionWatch {
    /** Nobody. */
    ConnectionWatch NONE = new ConnectionWatch() {
        @Override
        public void onEstablished(CmConnection connection) {}

        @Override
        public void onOver(CmConnection connection) {}
    };

    /** A connection is established, or its peer takes it for that. */
    void onEstablished(CmConnection connection);

    /** The peer of such a connection needs to hear no more: it has left, or answered, or is given up. */
    void onOver(CmConnection connection);
}
