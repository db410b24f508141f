package io.rdma4j.sockets.datagram;

import io.rdma4j.wire.rsocket.DatagramHeader;

/**
 * The sizes of a datagram socket. Each datagram takes a slot of 2048 bytes, whatever its length. The queue and the
 * buffer limit the number of slots.
 *
 * @param sendQueue maximum number of outstanding sends, from 1
 * @param receiveQueue maximum number of received datagrams that are queued, from 1; more are dropped
 * @param sendBufferBytes bytes of the send slots, at least {@link #SLOT_BYTES}
 * @param receiveBufferBytes bytes of the receive slots, at least {@link #SLOT_BYTES}
 * @param inlineBytes maximum size, header included, of datagrams that are copied when they are posted
 */
public record DatagramSizes(
        int sendQueue, int receiveQueue, int sendBufferBytes, int receiveBufferBytes, int inlineBytes) {
    /** Bytes of a slot. C: {@code RS_SNDLOWAT}. */
    public static final int SLOT_BYTES = DatagramHeader.MAX_BYTES;

    /** Maximum number of entries of a queue. C: {@code RS_QP_MAX_SIZE}. */
    public static final int MAX_QUEUE = 0xfffe;

    /** Checks the ranges. */
    public DatagramSizes {
        requireRange("send queue", sendQueue, 1, MAX_QUEUE);
        requireRange("receive queue", receiveQueue, 1, MAX_QUEUE);
        requireRange("send buffer", sendBufferBytes, SLOT_BYTES, Integer.MAX_VALUE);
        requireRange("receive buffer", receiveBufferBytes, SLOT_BYTES, Integer.MAX_VALUE);
        requireRange("inline size", inlineBytes, 0, Integer.MAX_VALUE);
    }

    private static void requireRange(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " is " + value + ", must be " + least + " to " + most);
        }
    }

    /**
     * Returns these sizes with queues limited to {@code deviceQueue}, the maximum number of work requests of a device's
     * queue.
     */
    public DatagramSizes fitted(int deviceQueue) {
        return new DatagramSizes(
                Math.min(sendQueue, deviceQueue),
                Math.min(receiveQueue, deviceQueue),
                sendBufferBytes,
                receiveBufferBytes,
                inlineBytes);
    }

    /** Returns the number of send slots. */
    public int sendSlots() {
        return Math.min(sendQueue, sendBufferBytes / SLOT_BYTES);
    }

    /** Returns the number of receive slots. */
    public int receiveSlots() {
        return Math.min(receiveQueue, receiveBufferBytes / SLOT_BYTES);
    }
}
