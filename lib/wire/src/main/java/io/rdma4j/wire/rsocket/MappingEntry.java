package io.rdma4j.wire.rsocket;

import java.nio.ByteBuffer;

/**
 * An entry of the table of memory that a peer has mapped for direct writes ({@code riomap}). The table follows the two
 * buffer descriptors of its owner, in the owner's byte order. Source: librdmacm's rsocket protocol.
 *
 * @param offset offset by which the memory is addressed
 * @param memory the mapped memory; length 0 for an unused entry
 */
public record MappingEntry(long offset, BufferDescriptor memory) {
    /** Length of an entry in bytes. */
    public static final int LENGTH = 8 + BufferDescriptor.LENGTH;

    /** Reads an entry in the buffer's byte order. The position does not change. */
    public static MappingEntry read(ByteBuffer in, int at) {
        return new MappingEntry(in.getLong(at), BufferDescriptor.read(in, at + 8));
    }

    /** Writes this entry in the buffer's byte order. The position does not change. */
    public void write(ByteBuffer out, int at) {
        out.putLong(at, offset);
        memory.write(out, at + 8);
    }
}
