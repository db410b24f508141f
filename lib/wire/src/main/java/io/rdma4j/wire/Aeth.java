package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Acknowledge Extended Transport Header: the outcome of a request and the number of messages completed.
 * Source: InfiniBand Architecture volume 1, 9.3.4 and 9.7.5.
 *
 * <p>Bits 6:5 of the syndrome are its kind: 0 acknowledgement (bits 4:0 credits), 1 receiver not ready (bits 4:0 timer
 * code), 3 negative acknowledgement (bits 4:0 reason). Kind 2 is reserved.
 *
 * @param syndrome outcome of the request, 8 bits
 * @param messageSequenceNumber number of messages completed by the responder, 24 bits
 */
public record Aeth(int syndrome, int messageSequenceNumber) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 4;

    /** Positive acknowledgement without a credit count. */
    public static final int ACK = 0x1f;

    /** Receiver not ready. The low five bits are the timer code. */
    public static final int RNR_NAK = 0x20;

    /** A packet is missing: the requester retransmits from the PSN of this packet. */
    public static final int NAK_PSN_SEQUENCE_ERROR = 0x60;

    /** The request violates the protocol. */
    public static final int NAK_INVALID_REQUEST = 0x61;

    /** The key or the address range of the request is invalid, or an access right is missing. */
    public static final int NAK_REMOTE_ACCESS_ERROR = 0x62;

    /** The responder failed for a local reason. */
    public static final int NAK_REMOTE_OPERATIONAL_ERROR = 0x63;

    private static final int SYNDROME = 0;

    /** Returns the outcome of the request, 8 bits. */
    public static int syndrome(MemorySegment s, long at) {
        return Wire.u8(s, at + SYNDROME);
    }

    /** Returns the number of messages completed by the responder, 24 bits. */
    public static int messageSequenceNumber(MemorySegment s, long at) {
        return Wire.u32(s, at) & 0xff_ffff;
    }

    /** Returns whether a syndrome is a positive acknowledgement. */
    public static boolean isAck(int syndrome) {
        return (syndrome & 0xe0) == 0;
    }

    /** Returns whether a syndrome reports that the receiver is not ready. */
    public static boolean isRnrNak(int syndrome) {
        return (syndrome & 0xe0) == RNR_NAK;
    }

    /** Returns whether a syndrome is a negative acknowledgement. */
    public static boolean isNak(int syndrome) {
        return (syndrome & 0xe0) == NAK_PSN_SEQUENCE_ERROR;
    }

    /** Writes a whole header without creating a record. */
    public static void write(MemorySegment s, long at, int syndrome, int messageSequenceNumber) {
        Wire.u32(s, at, syndrome << 24 | messageSequenceNumber & 0xff_ffff);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static Aeth parse(MemorySegment s, long at) {
        return new Aeth(syndrome(s, at), messageSequenceNumber(s, at));
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        write(s, at, syndrome, messageSequenceNumber);
    }
}
