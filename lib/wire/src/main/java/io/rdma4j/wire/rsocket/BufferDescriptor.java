package io.rdma4j.wire.rsocket;

import java.nio.ByteBuffer;

/**
 * A range of the sender's memory that the peer may write to. In the connection data it is big-endian. In the descriptor
 * table of a connected socket it has the byte order of the table's owner. Source: librdmacm's rsocket protocol.
 *
 * @param address remote address of the range
 * @param key remote key of the range
 * @param length length in bytes; for a descriptor table, the number of its entries
 */
public record BufferDescriptor(long address, int key, int length) {
    /** Length of a descriptor in bytes. */
    public static final int LENGTH = 16;

    /** Reads a descriptor in the buffer's byte order. The position does not change. */
    public static BufferDescriptor read(ByteBuffer in, int at) {
        return new BufferDescriptor(in.getLong(at), in.getInt(at + 8), in.getInt(at + 12));
    }

    /** Writes this descriptor in the buffer's byte order. The position does not change. */
    public void write(ByteBuffer out, int at) {
        out.putLong(at, address);
        out.putInt(at + 8, key);
        out.putInt(at + 12, length);
    }
}
