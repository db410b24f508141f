package io.rdma4j.wire.rsocket;

/**
 * The control word of a stream message: 3 bits of message kind and 29 bits of value. It is sent as immediate data, or
 * as a SEND of 4 bytes if the transport has no immediate data. Source: librdmacm's rsocket protocol.
 */
public final class ControlWord {
    /** Data: the value is the number of bytes written at the receiver's current buffer position. */
    public static final int DATA = 0;

    /** Credit for more messages, possibly with a new buffer: the value is the number of the last message allowed. */
    public static final int CREDIT = 4;

    /** An entry of the mapping table was written. The value is its index. */
    public static final int MAPPING = 6;

    /** A control message: the value is {@link #DISCONNECT}, {@link #KEEPALIVE} or {@link #SHUTDOWN}. */
    public static final int CONTROL = 7;

    /** The sender no longer sends or receives. */
    public static final int DISCONNECT = 0;

    /** The sender is alive. */
    public static final int KEEPALIVE = 1;

    /** The sender no longer sends. */
    public static final int SHUTDOWN = 2;

    private static final int SHIFT = 29;
    private static final int VALUE = (1 << SHIFT) - 1;

    private ControlWord() {}

    /** Returns the word of a kind and the low 29 bits of a value. */
    public static int of(int kind, int value) {
        return kind << SHIFT | value & VALUE;
    }

    /** Returns the kind of the message, 0 to 7. */
    public static int kind(int word) {
        return word >>> SHIFT;
    }

    /** Returns the value, 0 to 2<sup>29</sup> - 1. */
    public static int value(int word) {
        return word & VALUE;
    }
}
