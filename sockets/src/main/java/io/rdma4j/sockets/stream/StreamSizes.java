package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.ConnectData;

/**
 * Sizes of a stream.
 *
 * @param sendQueue work requests that may be under way, at least {@link #LEAST_QUEUE}
 * @param receiveQueue messages that may arrive before the peer waits, at least {@link #LEAST_QUEUE}
 * @param sendBufferBytes bytes that may be sent and not acknowledged, at least {@link #LOW_WATER_BYTES}
 * @param receiveBufferBytes bytes that may arrive and not be read; even
 * @param inlineBytes messages up to this size are copied when they are posted
 * @param mappingEntries pieces of memory that the peer may map here
 */
public record StreamSizes(
        int sendQueue,
        int receiveQueue,
        int sendBufferBytes,
        int receiveBufferBytes,
        int inlineBytes,
        int mappingEntries) {
    /** Fewest entries of a queue. */
    public static final int LEAST_QUEUE = 16;

    /** Most entries of a queue: sequence numbers have 16 bits. */
    public static final int MOST_QUEUE = 0xfffe;

    /** Free bytes of the send buffer without which nothing is sent. */
    public static final int LOW_WATER_BYTES = 2048;

    /** Most bytes of a buffer that an option asks for: what is on its way on a fast, long line, and made without a wait. */
    public static final int MOST_BUFFER_BYTES = 64 << 20;

    /** What a work request costs: places in the queue, in the completion queue, and in tables. */
    private static final int WORK_REQUEST_BYTES = 192;

    /** What a connection costs whatever its sizes. */
    private static final int CONNECTION_BYTES = 64 << 10;

    /** What librdmacm begins with. */
    public static final StreamSizes DEFAULT = new StreamSizes(384, 384, 131_072, 131_072, 64, 0);

    /** Checks the ranges. */
    public StreamSizes {
        requireRange("send queue", sendQueue, LEAST_QUEUE, MOST_QUEUE);
        requireRange("receive queue", receiveQueue, LEAST_QUEUE, MOST_QUEUE);
        requireRange("send buffer", sendBufferBytes, LOW_WATER_BYTES, Integer.MAX_VALUE);
        requireRange("receive buffer", receiveBufferBytes, 2, Integer.MAX_VALUE);
        requireRange("inline size", inlineBytes, 0, Integer.MAX_VALUE);
        requireRange("mapping table", mappingEntries, 0, MOST_QUEUE);
    }

    private static void requireRange(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " is " + value + ", must be " + least + " to " + most);
        }
    }

    /** The same with queues that a device can have; {@code deviceQueue} is the most work requests of its queues. */
    public StreamSizes fitted(int deviceQueue) {
        int most = Math.min(deviceQueue, MOST_QUEUE);
        return new StreamSizes(
                Math.clamp(sendQueue, LEAST_QUEUE, most),
                Math.clamp(receiveQueue, LEAST_QUEUE, most),
                sendBufferBytes,
                receiveBufferBytes & ~1,
                inlineBytes,
                ConnectData.scaled(mappingEntries));
    }

    /** About how much memory a connection of these sizes takes. */
    public long memoryBytes() {
        return CONNECTION_BYTES
                + StreamMemory.localBytes(this)
                + StreamMemory.tableBytes(this)
                + receiveBufferBytes
                + ((long) sendQueue + receiveQueue) * WORK_REQUEST_BYTES;
    }
}
