package io.rdma4j;

import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.WorkCompletion;

/**
 * A datagram that has arrived: {@link Datagrams#receive()}. It occupies one of the places of its socket until it is closed, so datagrams
 * are lost while a program keeps all of them.
 *
 * <p>The object and its memory are reused for another datagram after {@link #close}: a program must not use them afterwards.
 * Thread safe, but the content is for one user at a time.
 */
public final class Datagram extends ReceivePlace {
    /** The length of the header that a device stores before a datagram, from which the sender is known. */
    static final int HEADER_BYTES = 40;

    private final Datagrams socket;
    private int senderQueuePairNumber;

    Datagram(Datagrams socket, ReceiveQueue<?> queue, int number, Buffer whole) {
        super(queue, number, whole);
        this.socket = socket;
    }

    @Override
    void open(WorkCompletion completion) {
        senderQueuePairNumber = completion.sourceQueuePairNumber();
        open(completion, HEADER_BYTES, Math.max(0, completion.byteLength() - HEADER_BYTES));
    }

    /**
     * Returns the sender, as the destination of a reply. It has the queue key that sockets of the connection manager use, since a
     * datagram does not carry the sender's.
     *
     * @throws IllegalStateException if this object is closed
     */
    public Destination sender() {
        requireOpen();
        AddressVector path = AddressVector.ofSender(whole().memory(), socket.port(), socket.gidIndex());
        return new Destination(path, senderQueuePairNumber, DatagramParameters.UDP_QUEUE_KEY);
    }

    @Override
    public String toString() {
        return isOpen() ? "datagram of " + lengthBytes() + " bytes" : "closed datagram";
    }
}
