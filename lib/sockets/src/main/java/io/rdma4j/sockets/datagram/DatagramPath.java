package io.rdma4j.sockets.datagram;

/** The path from one local address to one peer's address. */
public interface DatagramPath extends AutoCloseable {
    /** Returns the maximum number of bytes of a datagram, header included. */
    int maxBytes();

    /**
     * Sends the contents of a slot of the local end. {@link DatagramProtocol#onSent} reports when the slot is free
     * again.
     *
     * @param slot number of the slot
     * @param length bytes, header included
     * @param queuePairNumber the peer's queue pair
     */
    void send(int slot, int length, int queuePairNumber);

    /** Closes the path; outstanding sends still complete. Throws no exception. */
    @Override
    void close();
}
