package io.rdma4j.wire.rsocket;

import java.nio.ByteBuffer;

/**
 * A piece of the sender's memory that the peer may write to. In the connection data it is big-endian; in the descriptor
 * table of a connected socket it lies in the byte order of the table's owner. Source: librdmacm's rsocket protocol.
 *
 * @param address remote address of the piece
 * @param key remote key of the piece
 * @param length bytes; of a descriptor table, the number of its entries
 */
public record BufferDescriptor(long address, int key, int length) {
    /** Bytes of a descriptor. */
    public static final int LENGTH = 16;

    /** Reads a descriptor in the buffer's byte order; the position stays. */
    public static BufferDescriptor read(ByteBuffer in, int at) {
        return new BufferDescriptor(in.getLong(at), in.getInt(at + 8), in.getInt(at + 12));
    }

    /** Writes this in the buffer's byte order; the position stays. */
    public void write(ByteBuffer out, int at) {
        out.putLong(at, address);
        out.putInt(at + 8, key);
        out.putInt(at + 12, length);
    }
}
