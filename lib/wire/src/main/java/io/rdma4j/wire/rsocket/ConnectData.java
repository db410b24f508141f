package io.rdma4j.wire.rsocket;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The private data of connection requests and replies between RDMA sockets: 40 bytes, big-endian.
 * Source: librdmacm's rsocket protocol, version 1.
 *
 * @param bigEndian true if the sender's descriptor table is big-endian
 * @param mapping true if the sender supports mapped memory
 * @param credits number of messages that the sender can receive before it grants more, 0 to 65535
 * @param mappingEntries number of entries of the sender's mapping table, see {@link #scaled}
 * @param table the sender's descriptor table; its length is the number of buffer descriptors
 * @param buffer memory to which the receiver of this message writes its first data
 */
public record ConnectData(
        boolean bigEndian,
        boolean mapping,
        int credits,
        int mappingEntries,
        BufferDescriptor table,
        BufferDescriptor buffer) {
    /** Length of the data in bytes. */
    public static final int LENGTH = 40;

    /** The only version of the protocol. */
    public static final int VERSION = 1;

    private static final int BIG_ENDIAN = 1;
    private static final int MAPPING = 2;
    private static final int O_FLAGS = 1;
    private static final int O_CREDITS = 2;
    private static final int O_ENTRIES = 7;
    private static final int O_TABLE = 8;
    private static final int O_BUFFER = 24;

    private static final int LITERAL = 128;
    private static final int SCALE = 0x80;
    private static final int SCALE_SHIFT = 8;

    /**
     * Reads the data.
     *
     * @param bytes the private data; bytes after {@link #LENGTH} are ignored
     * @return the data, or null if there are too few bytes or the version differs
     */
    public static @Nullable ConnectData parse(byte[] bytes) {
        if (bytes.length < LENGTH || bytes[0] != VERSION) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        return new ConnectData(
                (in.get(O_FLAGS) & BIG_ENDIAN) != 0,
                (in.get(O_FLAGS) & MAPPING) != 0,
                Short.toUnsignedInt(in.getShort(O_CREDITS)),
                unscaled(Byte.toUnsignedInt(in.get(O_ENTRIES))),
                BufferDescriptor.read(in, O_TABLE),
                BufferDescriptor.read(in, O_BUFFER));
    }

    /** Returns the encoded data. */
    public byte[] toByteArray() {
        ByteBuffer out = ByteBuffer.allocate(LENGTH);
        out.put(0, (byte) VERSION);
        out.put(O_FLAGS, (byte) ((bigEndian ? BIG_ENDIAN : 0) | (mapping ? MAPPING : 0)));
        out.putShort(O_CREDITS, (short) credits);
        out.put(O_ENTRIES, (byte) scale(mappingEntries));
        table.write(out, O_TABLE);
        buffer.write(out, O_BUFFER);
        return out.array();
    }

    /** Rounds a number of mapping entries up to an encodable number, at most 32512. */
    public static int scaled(int entries) {
        return unscaled(scale(entries));
    }

    private static int scale(int entries) {
        if (entries <= LITERAL) {
            return entries;
        }
        return SCALE | Math.min(SCALE - 1, entries + (1 << SCALE_SHIFT) - 1 >> SCALE_SHIFT);
    }

    private static int unscaled(int scaled) {
        return scaled <= LITERAL ? scaled : (scaled & ~SCALE) << SCALE_SHIFT;
    }
}
