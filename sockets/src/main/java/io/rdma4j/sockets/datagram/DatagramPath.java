package io.rdma4j.sockets.datagram;

/** The way from one local address to one peer's address. */
public interface DatagramPath extends AutoCloseable {
    /** Most bytes of a datagram on it, header included. */
    int mostBytes();

    /**
     * Sends what lies in a slot of the local end; {@link DatagramProtocol#onSent} tells that the slot is free again.
     *
     * @param slot number of the slot
     * @param length bytes, header included
     * @param queuePairNumber the peer's queue pair
     */
    void send(int slot, int length, int queuePairNumber);

    /** Gives the way up; what was sent still goes. */
    @Override
    void close();
}
