package io.rdma4j.tools.sockets;

import java.nio.ByteBuffer;

/** A message of udpong: a header of 8 bytes, then padding. Not thread safe. */
final class UdpongMessage {
    /** Registers a client. The response contains its number. */
    static final int LOGIN = 0;

    /** Starts a test. The server responds. */
    static final int START = 1;

    /** A datagram that the server counts. */
    static final int DATA = 2;

    /** A datagram that the server counts and echoes. */
    static final int ECHO = 3;

    /** Ends a test. The response contains the count. */
    static final int END = 4;

    /** The length in bytes of {@link #LOGIN}, {@link #START} and {@link #END}. */
    static final int CONTROL_BYTES = 16;

    /** The maximum length of a message in bytes, as in C. */
    static final int MAX_BYTES = 2056;

    private static final int HEADER_BYTES = 8;
    private static final int OPERATION_OFFSET = 0;
    private static final int CLIENT_OFFSET = 1;
    private static final int SEQUENCE_OFFSET = 2;
    private static final int DATA_OFFSET = 4;

    private final ByteBuffer bytes = ByteBuffer.allocateDirect(MAX_BYTES);

    /** Returns the buffer to receive a message into. */
    ByteBuffer toReceive() {
        return bytes.clear();
    }

    /** Returns the first bytes, to send them. */
    ByteBuffer toSend(int length) {
        return bytes.position(0).limit(length);
    }

    /** Returns the number of bytes received. */
    int length() {
        return bytes.position();
    }

    /** Returns whether a complete header was received. */
    boolean hasHeader() {
        return bytes.position() >= HEADER_BYTES;
    }

    int operation() {
        return bytes.get(OPERATION_OFFSET);
    }

    UdpongMessage operation(int value) {
        bytes.put(OPERATION_OFFSET, (byte) value);
        return this;
    }

    /** Returns the client's number, 0 to 255. */
    int client() {
        return Byte.toUnsignedInt(bytes.get(CLIENT_OFFSET));
    }

    UdpongMessage client(int value) {
        bytes.put(CLIENT_OFFSET, (byte) value);
        return this;
    }

    /** Returns the sequence number that matches a response to its request, 0 to 255. */
    int sequence() {
        return Byte.toUnsignedInt(bytes.get(SEQUENCE_OFFSET));
    }

    UdpongMessage sequence(int value) {
        bytes.put(SEQUENCE_OFFSET, (byte) value);
        return this;
    }

    int data() {
        return bytes.getInt(DATA_OFFSET);
    }

    UdpongMessage data(int value) {
        bytes.putInt(DATA_OFFSET, value);
        return this;
    }
}
