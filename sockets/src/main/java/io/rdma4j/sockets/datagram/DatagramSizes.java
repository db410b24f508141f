package io.rdma4j.sockets.datagram;

import io.rdma4j.wire.rsocket.DatagramHeader;

/**
 * Sizes of a datagram socket. Each datagram takes a slot of 2048 bytes, whatever its length; there are as many as the queue
 * and the buffer allow.
 *
 * @param sendQueue datagrams that may be under way, from 1
 * @param receiveQueue datagrams that may wait to be received, from 1; more are dropped
 * @param sendBufferBytes bytes of their slots, at least {@link #SLOT_BYTES}
 * @param receiveBufferBytes bytes of theirs, at least {@link #SLOT_BYTES}
 * @param inlineBytes datagrams up to this size, with their header, are copied when they are posted
 */
public record DatagramSizes(
        int sendQueue, int receiveQueue, int sendBufferBytes, int receiveBufferBytes, int inlineBytes) {
    /** Bytes of a slot. C: {@code RS_SNDLOWAT}. */
    public static final int SLOT_BYTES = DatagramHeader.MOST_BYTES;

    /** Most entries of a queue. C: {@code RS_QP_MAX_SIZE}. */
    public static final int MOST_QUEUE = 0xfffe;

    /** What librdmacm begins with: 64 slots each way. */
    public static final DatagramSizes DEFAULT = new DatagramSizes(384, 384, 131_072, 131_072, 64);

    /** Checks the ranges. */
    public DatagramSizes {
        requireRange("send queue", sendQueue, 1, MOST_QUEUE);
        requireRange("receive queue", receiveQueue, 1, MOST_QUEUE);
        requireRange("send buffer", sendBufferBytes, SLOT_BYTES, Integer.MAX_VALUE);
        requireRange("receive buffer", receiveBufferBytes, SLOT_BYTES, Integer.MAX_VALUE);
        requireRange("inline size", inlineBytes, 0, Integer.MAX_VALUE);
    }

    private static void requireRange(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " is " + value + ", must be " + least + " to " + most);
        }
    }

    /** The same with queues that a device can have; {@code deviceQueue} is the most work requests of its queues. */
    public DatagramSizes fitted(int deviceQueue) {
        return new DatagramSizes(
                Math.min(sendQueue, deviceQueue),
                Math.min(receiveQueue, deviceQueue),
                sendBufferBytes,
                receiveBufferBytes,
                inlineBytes);
    }

    /** Datagrams that may be under way. */
    public int sendSlots() {
        return Math.min(sendQueue, sendBufferBytes / SLOT_BYTES);
    }

    /** Datagrams that may wait to be received. */
    public int receiveSlots() {
        return Math.min(receiveQueue, receiveBufferBytes / SLOT_BYTES);
    }
}
