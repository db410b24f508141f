package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.lang.foreign.MemorySegment;

/**
 * The memory of a stream.
 *
 * @param local what is sent: {@link #localBytes} bytes that only this side uses
 * @param receive where the peer writes data
 * @param receiveAddress remote address of {@code receive}
 * @param receiveKey remote key of {@code receive}
 * @param table where the peer writes what it offers: {@link #tableBytes} bytes
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
    /** Buffers that a peer offers at a time: the two halves of its receive buffer. */
    static final int DESCRIPTORS = 2;

    /** Where the send buffer ends and the small things begin that are written to the peer's table. */
    static long slotsAt(StreamSizes sizes) {
        return sizes.sendBufferBytes();
    }

    /** Bytes of local memory: the send buffer, and a place for a table entry of each request that can be under way. */
    public static long localBytes(StreamSizes sizes) {
        return slotsAt(sizes) + (long) sizes.sendQueue() * MappingEntry.LENGTH;
    }

    /** Bytes of the table. */
    public static long tableBytes(StreamSizes sizes) {
        return DESCRIPTORS * BufferDescriptor.LENGTH + (long) sizes.mappingEntries() * MappingEntry.LENGTH;
    }
}
