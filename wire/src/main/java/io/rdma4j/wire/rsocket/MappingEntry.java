package io.rdma4j.wire.rsocket;

import java.nio.ByteBuffer;

/**
 * An entry of the table of memory that a peer has mapped for direct writes ({@code riomap}). It lies behind the two buffer
 * descriptors of the table's owner, in the owner's byte order. Source: librdmacm's rsocket protocol.
 *
 * @param offset by which the memory is addressed
 * @param memory where it is; length 0 for an unused entry
 */
public record MappingEntry(long offset, BufferDescriptor memory) {
    /** Bytes of an entry. */
    public static final int LENGTH = 8 + BufferDescriptor.LENGTH;

    /** Reads an entry in the buffer's byte order; the position stays. */
    public static MappingEntry read(ByteBuffer in, int at) {
        return new MappingEntry(in.getLong(at), BufferDescriptor.read(in, at + 8));
    }

    /** Writes this in the buffer's byte order; the position stays. */
    public void write(ByteBuffer out, int at) {
        out.putLong(at, offset);
        memory.write(out, at + 8);
    }
}
