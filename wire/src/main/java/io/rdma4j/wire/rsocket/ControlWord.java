package io.rdma4j.wire.rsocket;

/**
 * The 32 bits that go with every message of a stream: 3 bits that say what it is, and 29 bits of value. They travel as
 * immediate data, or as a SEND of 4 bytes where the transport has no immediate data. Source: librdmacm's rsocket protocol.
 */
public final class ControlWord {
    /** Data: the value is how many bytes were written at the receiver's present place. */
    public static final int DATA = 0;

    /** The sender has freed receives and maybe announced a buffer: the value is up to which message the peer may send. */
    public static final int CREDIT = 4;

    /** An entry of the mapping table was written: the value is its index. */
    public static final int MAPPING = 6;

    /** A control message: the value is {@link #DISCONNECT}, {@link #KEEPALIVE} or {@link #SHUTDOWN}. */
    public static final int CONTROL = 7;

    /** The sender neither sends nor receives any more. */
    public static final int DISCONNECT = 0;

    /** The sender is alive. */
    public static final int KEEPALIVE = 1;

    /** The sender sends no more. */
    public static final int SHUTDOWN = 2;

    private static final int SHIFT = 29;
    private static final int VALUE = (1 << SHIFT) - 1;

    private ControlWord() {}

    /** Puts a word together; of the value 29 bits count. */
    public static int of(int kind, int value) {
        return kind << SHIFT | value & VALUE;
    }

    /** What the message is, 0 to 7. */
    public static int kind(int word) {
        return word >>> SHIFT;
    }

    /** The value, 0 to 2<sup>29</sup> - 1. */
    public static int value(int word) {
        return word & VALUE;
    }
}
