package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * A received RoCEv2 packet, read in place: a reusable view over a {@link Frame}.
 *
 * <p>{@link #parse} checks the lengths once; after it has returned {@link Result#OK} no accessor throws, and the
 * accessors of an extension header may be called where the opcode says that the header is there. The view is valid as
 * long as the frame's memory. Not thread safe.
 */
public final class Packet {
    /** Bytes of the ICRC at the end of every packet. */
    public static final int ICRC_LENGTH = 4;

    /** What {@link #parse} found. */
    public enum Result {
        /** The packet can be read. */
        OK,
        /** Shorter than a BTH and an ICRC. */
        TOO_SHORT,
        /** The opcode byte is reserved or of a transport not spoken here. */
        UNKNOWN_OPCODE,
        /** The packet is shorter than the headers, the padding and the ICRC that it announces. */
        TRUNCATED,
        /** The transport header version is not 0. */
        BAD_VERSION
    }

    private Frame frame = new Frame();
    private MemorySegment segment = MemorySegment.NULL;
    private long bth;
    private Opcode opcode = Opcode.RC_ACKNOWLEDGE;
    private int psn;
    private int payloadLength;

    /** Creates a view over nothing; {@link #parse} comes first. */
    public Packet() {}

    /**
     * Reads a frame's headers and checks that all it announces is there. The ICRC is not checked: see {@link Icrc}.
     *
     * @param received the frame; kept, not copied
     * @return whether the packet can be read; anything but {@link Result#OK} is to be counted and dropped
     */
    public Result parse(Frame received) {
        int length = received.length;
        if (length < Bth.LENGTH + ICRC_LENGTH) {
            return Result.TOO_SHORT;
        }
        MemorySegment s = received.segment;
        long at = received.offset;
        Opcode known = Opcode.of(Bth.opcode(s, at));
        if (known == null) {
            return Result.UNKNOWN_OPCODE;
        }
        if (Bth.version(s, at) != 0) {
            return Result.BAD_VERSION;
        }
        int payload = length - known.headerLength() - Bth.padCount(s, at) - ICRC_LENGTH;
        if (payload < 0) {
            return Result.TRUNCATED;
        }
        frame = received;
        segment = s;
        bth = at;
        opcode = known;
        psn = Bth.psn(s, at);
        payloadLength = payload;
        return Result.OK;
    }

    /** The frame that this is a view of. */
    public Frame frame() {
        return frame;
    }

    /** The memory that holds the packet. */
    public MemorySegment segment() {
        return segment;
    }

    /** The operation. */
    public Opcode opcode() {
        return opcode;
    }

    /** Packet sequence number. */
    public int psn() {
        return psn;
    }

    /** Solicited event bit. */
    public boolean solicited() {
        return Bth.solicited(segment, bth);
    }

    /** Bytes of padding, 0 to 3. */
    public int padCount() {
        return Bth.padCount(segment, bth);
    }

    /** Partition key. */
    public int partitionKey() {
        return Bth.partitionKey(segment, bth);
    }

    /** Destination queue pair number. */
    public int destinationQueuePair() {
        return Bth.destinationQueuePair(segment, bth);
    }

    /** Acknowledge request bit. */
    public boolean acknowledgeRequest() {
        return Bth.acknowledgeRequest(segment, bth);
    }

    /** Where the payload begins in {@link #segment}. */
    public long payloadOffset() {
        return bth + opcode.headerLength();
    }

    /** Bytes of payload, without padding and ICRC. */
    public int payloadLength() {
        return payloadLength;
    }

    /** Where the DETH begins, the first extension header of datagrams. */
    public long dethOffset() {
        return bth + Bth.LENGTH;
    }

    /** Number of the shared receive queue that a request of an extended connection is for. */
    public int sharedReceiveQueue() {
        return XrcEth.sharedReceiveQueue(segment, bth + Bth.LENGTH);
    }

    /** Where the RETH begins. */
    public long rethOffset() {
        return bth + opcode.extensionOffset();
    }

    /** Where the AtomicETH begins. */
    public long atomicEthOffset() {
        return bth + opcode.extensionOffset();
    }

    /** Where the AETH begins. */
    public long aethOffset() {
        return bth + Bth.LENGTH;
    }

    /** Where the AtomicAckETH begins. */
    public long atomicAckEthOffset() {
        return bth + Bth.LENGTH + Aeth.LENGTH;
    }

    /** The immediate data. */
    public int immediate() {
        return ImmDt.data(segment, payloadOffset() - ImmDt.LENGTH);
    }

    /** The key to invalidate. */
    public int invalidateKey() {
        return Ieth.key(segment, payloadOffset() - Ieth.LENGTH);
    }

    /** Syndrome of the AETH. */
    public int syndrome() {
        return Aeth.syndrome(segment, aethOffset());
    }

    /** How many messages the responder had completed, 24 bits; where the opcode has an AETH. */
    public int messageSequenceNumber() {
        return Aeth.messageSequenceNumber(segment, aethOffset());
    }
}
