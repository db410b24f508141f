package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.ConnectData;

/**
 * The sizes of a stream.
 *
 * @param sendQueue maximum number of outstanding send work requests, at least {@link #MIN_QUEUE}
 * @param receiveQueue maximum number of messages that the peer may send before it waits for credit, at least
 *     {@link #MIN_QUEUE}
 * @param sendBufferBytes maximum number of bytes that are sent and not acknowledged, at least {@link #LOW_WATER_BYTES}
 * @param receiveBufferBytes maximum number of bytes that are received and not read; even
 * @param inlineBytes maximum size of messages that are copied when they are posted
 * @param mappingEntries maximum number of memory ranges that the peer may map
 */
public record StreamSizes(
        int sendQueue,
        int receiveQueue,
        int sendBufferBytes,
        int receiveBufferBytes,
        int inlineBytes,
        int mappingEntries) {
    /** Minimum number of entries of a queue. */
    public static final int MIN_QUEUE = 16;

    /** Maximum number of entries of a queue: sequence numbers have 16 bits. */
    public static final int MAX_QUEUE = 0xfffe;

    /** Minimum free space of the send buffer, in bytes, to send data. */
    public static final int LOW_WATER_BYTES = 2048;

    /**
     * Maximum buffer size in bytes that an option can set. It suffices for a fast path with a long delay, and such a
     * buffer is allocated without a noticeable wait.
     */
    public static final int MAX_BUFFER_BYTES = 64 << 20;

    /** Estimated memory of a work request in bytes: in its queue, in the completion queue and in tables. */
    private static final int WORK_REQUEST_BYTES = 192;

    /** Estimated memory of a connection in bytes, without its buffers and queues. */
    private static final int CONNECTION_BYTES = 64 << 10;

    /** The defaults of librdmacm. */
    public static final StreamSizes DEFAULT = new StreamSizes(384, 384, 131_072, 131_072, 64, 0);

    /** Checks the ranges. */
    public StreamSizes {
        requireRange("send queue", sendQueue, MIN_QUEUE, MAX_QUEUE);
        requireRange("receive queue", receiveQueue, MIN_QUEUE, MAX_QUEUE);
        requireRange("send buffer", sendBufferBytes, LOW_WATER_BYTES, Integer.MAX_VALUE);
        requireRange("receive buffer", receiveBufferBytes, 2, Integer.MAX_VALUE);
        requireRange("inline size", inlineBytes, 0, Integer.MAX_VALUE);
        requireRange("mapping table", mappingEntries, 0, MAX_QUEUE);
    }

    private static void requireRange(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " is " + value + ", must be " + least + " to " + most);
        }
    }

    /** Returns these sizes with another send queue. */
    public StreamSizes withSendQueue(int value) {
        return new StreamSizes(value, receiveQueue, sendBufferBytes, receiveBufferBytes, inlineBytes, mappingEntries);
    }

    /** Returns these sizes with another receive queue. */
    public StreamSizes withReceiveQueue(int value) {
        return new StreamSizes(sendQueue, value, sendBufferBytes, receiveBufferBytes, inlineBytes, mappingEntries);
    }

    /** Returns these sizes with another send buffer. */
    public StreamSizes withSendBufferBytes(int value) {
        return new StreamSizes(sendQueue, receiveQueue, value, receiveBufferBytes, inlineBytes, mappingEntries);
    }

    /** Returns these sizes with another receive buffer. */
    public StreamSizes withReceiveBufferBytes(int value) {
        return new StreamSizes(sendQueue, receiveQueue, sendBufferBytes, value, inlineBytes, mappingEntries);
    }

    /** Returns these sizes with another inline size. */
    public StreamSizes withInlineBytes(int value) {
        return new StreamSizes(sendQueue, receiveQueue, sendBufferBytes, receiveBufferBytes, value, mappingEntries);
    }

    /** Returns these sizes with another mapping table. */
    public StreamSizes withMappingEntries(int value) {
        return new StreamSizes(sendQueue, receiveQueue, sendBufferBytes, receiveBufferBytes, inlineBytes, value);
    }

    /**
     * Returns these sizes with queues limited to {@code deviceQueue}, the maximum number of work requests of a device's
     * queue.
     */
    public StreamSizes fitted(int deviceQueue) {
        int most = Math.min(deviceQueue, MAX_QUEUE);
        return new StreamSizes(
                Math.clamp(sendQueue, MIN_QUEUE, most),
                Math.clamp(receiveQueue, MIN_QUEUE, most),
                sendBufferBytes,
                receiveBufferBytes & ~1,
                inlineBytes,
                ConnectData.scaled(mappingEntries));
    }

    /** Estimates the memory of a connection of these sizes in bytes. */
    public long memoryBytes() {
        return CONNECTION_BYTES
                + StreamMemory.localBytes(this)
                + StreamMemory.tableBytes(this)
                + receiveBufferBytes
                + ((long) sendQueue + receiveQueue) * WORK_REQUEST_BYTES;
    }
}
