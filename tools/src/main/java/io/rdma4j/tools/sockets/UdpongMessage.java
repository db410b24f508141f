package io.rdma4j.tools.sockets;

import java.nio.ByteBuffer;

/** A message of udpong: 8 bytes that say what it is, then whatever fills it up. Not thread safe. */
final class UdpongMessage {
    /** A new client; answered with its number. */
    static final int LOGIN = 0;

    /** A test begins; answered. */
    static final int START = 1;

    /** A datagram that is only counted. */
    static final int DATA = 2;

    /** A datagram that is counted and comes back. */
    static final int ECHO = 3;

    /** A test is over; answered with the count. */
    static final int END = 4;

    /** Bytes of a message that is no datagram of a test. */
    static final int CONTROL_BYTES = 16;

    /** Most bytes of a message; C keeps as many. */
    static final int MOST_BYTES = 2056;

    private static final int HEADER_BYTES = 8;
    private static final int O_OPERATION = 0;
    private static final int O_CLIENT = 1;
    private static final int O_SEQUENCE = 2;
    private static final int O_DATA = 4;

    private final ByteBuffer bytes = ByteBuffer.allocateDirect(MOST_BYTES);

    /** The bytes, to receive into. */
    ByteBuffer toReceive() {
        return bytes.clear();
    }

    /** The first bytes, to send. */
    ByteBuffer toSend(int length) {
        return bytes.position(0).limit(length);
    }

    /** Bytes that were received. */
    int length() {
        return bytes.position();
    }

    /** Whether enough was received to say what it is. */
    boolean hasHeader() {
        return bytes.position() >= HEADER_BYTES;
    }

    int operation() {
        return bytes.get(O_OPERATION);
    }

    UdpongMessage operation(int value) {
        bytes.put(O_OPERATION, (byte) value);
        return this;
    }

    /** The client's number, 0 to 255. */
    int client() {
        return Byte.toUnsignedInt(bytes.get(O_CLIENT));
    }

    UdpongMessage client(int value) {
        bytes.put(O_CLIENT, (byte) value);
        return this;
    }

    /** The number by which the client knows the answer, 0 to 255. */
    int sequence() {
        return Byte.toUnsignedInt(bytes.get(O_SEQUENCE));
    }

    UdpongMessage sequence(int value) {
        bytes.put(O_SEQUENCE, (byte) value);
        return this;
    }

    int data() {
        return bytes.getInt(O_DATA);
    }

    UdpongMessage data(int value) {
        bytes.putInt(O_DATA, value);
        return this;
    }
}
