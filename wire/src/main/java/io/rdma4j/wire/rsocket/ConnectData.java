package io.rdma4j.wire.rsocket;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What two RDMA sockets tell each other in the private data of the connection request and reply, 40 bytes, big-endian.
 * Source: librdmacm's rsocket protocol, version 1.
 *
 * @param bigEndian whether the sender's descriptor table is big-endian
 * @param mapping whether the sender understands mapped memory
 * @param credits messages that the sender can receive before it grants more, 0 to 65535
 * @param mappingEntries entries of the sender's mapping table, see {@link #scaled}
 * @param table the sender's descriptor table; its length is the number of buffer descriptors
 * @param buffer where the receiver of this may write its first data
 */
public record ConnectData(
        boolean bigEndian,
        boolean mapping,
        int credits,
        int mappingEntries,
        BufferDescriptor table,
        BufferDescriptor buffer) {
    /** Bytes of the data. */
    public static final int LENGTH = 40;

    /** The one version of the protocol. */
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
     * @param bytes the private data; more than {@link #LENGTH} bytes are ignored
     * @return null if there are too few bytes, or those of another version
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

    /** The bytes that go on the wire. */
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

    /** The number of mapping entries that a wish for {@code entries} comes to, which one byte can say: not fewer. */
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
