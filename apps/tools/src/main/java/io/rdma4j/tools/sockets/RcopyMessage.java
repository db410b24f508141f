package io.rdma4j.tools.sockets;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of a message of rcopy, in the byte order of the host, as in C. The path (open), or the size and the bytes
 * of the file (write), may follow the header.
 *
 * @param version the version, 0
 * @param command the command, with the bit {@link #RESPONSE} in a response
 * @param lengthBytes the length of header and path or size, 0 to 65535
 * @param data the {@code st_mode} of the file (open), or the error number of a response
 * @param id the ID chosen by the client, which the response repeats
 */
record RcopyMessage(int version, int command, int lengthBytes, int data, long id) {
    /** The length of the header in bytes. */
    static final int HEADER_BYTES = 16;

    /** The length in bytes of the size that follows the header of {@link #WRITE}. */
    static final int SIZE_BYTES = 8;

    /** Opens a file for writing. */
    static final int OPEN = 1;

    /** Closes the file. */
    static final int CLOSE = 2;

    /** Writes the contents of the file. */
    static final int WRITE = 3;

    /** The bit of a command that marks a response. */
    static final int RESPONSE = 0x80;

    private static final int MAX_BYTES = 0xffff;

    /** Decodes a header. */
    static RcopyMessage read(ByteBuffer in) {
        in.order(ByteOrder.nativeOrder());
        return new RcopyMessage(in.get() & 0xff, in.get() & 0xff, in.getShort() & MAX_BYTES, in.getInt(), in.getLong());
    }

    /** Creates a command with the given number of bytes after the header. */
    static RcopyMessage of(int command, int payloadBytes, int data) {
        return new RcopyMessage(0, command, HEADER_BYTES + payloadBytes, data, 0);
    }

    /** Creates the response to this command. */
    RcopyMessage response(int errorNumber) {
        return new RcopyMessage(0, command | RESPONSE, HEADER_BYTES, errorNumber, id);
    }

    /** Returns a buffer that contains the header and has space for the bytes after it. */
    ByteBuffer toBuffer() {
        return ByteBuffer.allocate(lengthBytes)
                .order(ByteOrder.nativeOrder())
                .put((byte) version)
                .put((byte) command)
                .putShort((short) lengthBytes)
                .putInt(data)
                .putLong(id);
    }

    /** Returns the encoded length of a path: with a terminating zero, padded to a multiple of 8. */
    static int pathBytes(int length) {
        return length + 8 & ~7;
    }

    /** Returns whether a path of the given length fits into a message. */
    static boolean canHoldPath(int pathLength) {
        return pathLength + 8 <= MAX_BYTES - HEADER_BYTES;
    }
}
