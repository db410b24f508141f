package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.lang.foreign.MemorySegment;

/**
 * The memory of a stream.
 *
 * @param local memory to send from, used only by this side: {@link #localBytes} bytes
 * @param receive memory that the peer writes data into
 * @param receiveAddress remote address of {@code receive}
 * @param receiveKey remote key of {@code receive}
 * @param table memory that the peer writes descriptors and mapping entries into: {@link #tableBytes} bytes
 * @param tableAddress remote address of {@code table}
 * @param tableKey remote key of {@code table}
 */
public record StreamMemory(
        MemorySegment local,
        MemorySegment receive,
        long receiveAddress,
        int receiveKey,
        MemorySegment table,
        long tableAddress,
        int tableKey) {
    /** The number of buffers that a peer offers at a time: the two halves of its receive buffer. */
    static final int DESCRIPTORS = 2;

    /**
     * Returns the offset in local memory of the staging area for entries of the peer's table, after the send buffer.
     */
    static long stagingOffset(StreamSizes sizes) {
        return sizes.sendBufferBytes();
    }

    /**
     * Returns the size in bytes of local memory: the send buffer, and a staged table entry for each entry of the send
     * queue.
     */
    public static long localBytes(StreamSizes sizes) {
        return stagingOffset(sizes) + (long) sizes.sendQueue() * MappingEntry.LENGTH;
    }

    /** Returns the size in bytes of the table. */
    public static long tableBytes(StreamSizes sizes) {
        return DESCRIPTORS * BufferDescriptor.LENGTH + (long) sizes.mappingEntries() * MappingEntry.LENGTH;
    }
}
