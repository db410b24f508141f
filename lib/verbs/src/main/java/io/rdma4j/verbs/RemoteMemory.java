package io.rdma4j.verbs;

import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The address, key and length of a peer's memory that work requests may write or read. The peer sends them, for example
 * in the private data of a connection. Immutable.
 *
 * <p>The owner of the memory calls {@link MemoryRegion#remote}, and sends the result of {@link #encode}. The peer calls
 * {@link #decode}.
 *
 * @param address the address of the first byte in the owner's region, {@link MemoryRegion#address}
 * @param key the key that grants access, called rkey in C
 * @param lengthBytes the number of bytes, 0 or more
 */
public record RemoteMemory(long address, int key, long lengthBytes) {
    /** The number of bytes that {@link #encode} returns. */
    public static final int ENCODED_BYTES = Long.BYTES + Integer.BYTES + Long.BYTES;

    /**
     * Checks the length.
     *
     * @throws IllegalArgumentException if the length is negative
     */
    public RemoteMemory {
        if (lengthBytes < 0) {
            throw new IllegalArgumentException("the length is " + lengthBytes + " bytes, must be 0 or more");
        }
    }

    /**
     * Returns a part of the memory.
     *
     * @param offsetBytes the offset of the part
     * @param partBytes the length of the part
     * @throws IndexOutOfBoundsException if the part exceeds the memory
     */
    public RemoteMemory slice(long offsetBytes, long partBytes) {
        Objects.checkFromIndexSize(offsetBytes, partBytes, lengthBytes);
        return new RemoteMemory(address + offsetBytes, key, partBytes);
    }

    /**
     * Checks that the memory is long enough.
     *
     * @param neededBytes the number of bytes to write or to read, from the first byte
     * @throws IllegalArgumentException if the memory has fewer bytes
     */
    public void requireLength(long neededBytes) {
        if (neededBytes > lengthBytes) {
            throw new IllegalArgumentException(neededBytes + " bytes do not fit into " + lengthBytes);
        }
    }

    /** Returns the {@value #ENCODED_BYTES} bytes of address, key and length, in network byte order. */
    public byte[] encode() {
        return ByteBuffer.allocate(ENCODED_BYTES)
                .putLong(address)
                .putInt(key)
                .putLong(lengthBytes)
                .array();
    }

    /**
     * Decodes the result of {@link #encode}. Further bytes are ignored, since the private data of a connection may be
     * longer than the peer sent.
     *
     * @param bytes an array that starts with the encoded bytes
     * @throws IllegalArgumentException if there are fewer than {@value #ENCODED_BYTES} bytes, or the length is negative
     */
    public static RemoteMemory decode(byte[] bytes) {
        if (bytes.length < ENCODED_BYTES) {
            throw new IllegalArgumentException(
                    bytes.length + " bytes hold no remote memory, which needs " + ENCODED_BYTES);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new RemoteMemory(buffer.getLong(), buffer.getInt(), buffer.getLong());
    }
}
