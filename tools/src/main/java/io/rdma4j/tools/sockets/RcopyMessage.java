package io.rdma4j.tools.sockets;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of every message of rcopy; the byte order is that of the host, as in C. Behind it stand the path (open), the
 * size of the file and then its bytes (write), or nothing.
 *
 * @param version 0
 * @param command what to do, or with {@link #RESPONSE} what was done
 * @param lengthBytes of header and path or size, 0 to 65535
 * @param data permissions of the file (open), or the error number of a response
 * @param id chosen by the client, told back
 */
record RcopyMessage(int version, int command, int lengthBytes, int data, long id) {
    /** Bytes of the header. */
    static final int HEADER_BYTES = 16;

    /** Bytes of the size behind the header of {@link #WRITE}. */
    static final int SIZE_BYTES = 8;

    /** Open a file for writing. */
    static final int OPEN = 1;

    /** Close it. */
    static final int CLOSE = 2;

    /** Write it. */
    static final int WRITE = 3;

    /** The bit of responses. */
    static final int RESPONSE = 0x80;

    private static final int MOST_BYTES = 0xffff;

    /** Reads a header. */
    static RcopyMessage read(ByteBuffer in) {
        in.order(ByteOrder.nativeOrder());
        return new RcopyMessage(
                in.get() & 0xff, in.get() & 0xff, in.getShort() & MOST_BYTES, in.getInt(), in.getLong());
    }

    /** A command with so many bytes behind the header. */
    static RcopyMessage of(int command, int bytesBehind, int data) {
        return new RcopyMessage(0, command, HEADER_BYTES + bytesBehind, data, 0);
    }

    /** The response. */
    RcopyMessage response(int errorNumber) {
        return new RcopyMessage(0, command | RESPONSE, HEADER_BYTES, errorNumber, id);
    }

    /** A buffer with the header, that has room for what is behind it. */
    ByteBuffer toBuffer() {
        return ByteBuffer.allocate(lengthBytes)
                .order(ByteOrder.nativeOrder())
                .put((byte) version)
                .put((byte) command)
                .putShort((short) lengthBytes)
                .putInt(data)
                .putLong(id);
    }

    /** Bytes that a path takes: with a zero at its end, and then up to a multiple of 8. */
    static int pathBytes(int length) {
        return length + 8 & ~7;
    }

    /** Whether a path of so many bytes can be told. */
    static boolean canTell(int pathLength) {
        return pathLength + 8 <= MOST_BYTES - HEADER_BYTES;
    }
}
