package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * A received RoCEv2 packet, read in place: a reusable view over a {@link Frame}.
 *
 * <p>The base transport header is read once, in two words, since each access to a memory segment is expensive until it is compiled.
 *
 * <p>{@link #parse} checks the lengths once. After it has returned {@link Result#OK}, no accessor throws. The accessors
 * of an extension header may be called only if the opcode has that header. The view is valid as long as the memory of
 * the frame. Not thread safe.
 */
public final class Packet {
    /** Length of the ICRC at the end of every packet, in bytes. */
    public static final int ICRC_LENGTH = 4;

    /** The result of {@link #parse}. */
    public enum Result {
        /** The packet is readable. */
        OK,
        /** The packet is shorter than a BTH and an ICRC. */
        TOO_SHORT,
        /** The opcode byte is reserved or belongs to an unsupported transport. */
        UNKNOWN_OPCODE,
        /** The packet is shorter than its headers, padding and ICRC together. */
        TRUNCATED,
        /** The transport header version is not 0. */
        BAD_VERSION
    }

    private Frame frame = new Frame();
    private MemorySegment segment = MemorySegment.NULL;
    private MemorySegment payloadSegment = MemorySegment.NULL;
    private long bth;
    private long payloadOffset;

    /** The first eight bytes of the BTH, and the last four. */
    private long firstWords;

    private int lastWord;
    private Opcode opcode = Opcode.RC_ACKNOWLEDGE;
    private int payloadLength;

    /** Creates an empty view. Call {@link #parse} before any accessor. */
    public Packet() {}

    /**
     * Parses the headers of a frame and checks that the frame is long enough for them. The ICRC is not checked: see
     * {@link Icrc}.
     *
     * @param received the frame; the view keeps a reference to it
     * @return {@link Result#OK} if the packet is readable, otherwise the reason to count and drop it
     */
    public Result parse(Frame received) {
        int length = received.length;
        if (length < Bth.LENGTH + ICRC_LENGTH) {
            return Result.TOO_SHORT;
        }
        MemorySegment s = received.segment;
        long at = received.offset;
        long words = Wire.u64(s, at);
        Opcode known = Opcode.of((int) (words >>> 56));
        if (known == null) {
            return Result.UNKNOWN_OPCODE;
        }
        if ((words >>> 48 & 0xf) != 0) {
            return Result.BAD_VERSION;
        }
        int payload = length - known.headerLength() - padCount(words) - ICRC_LENGTH;
        if (payload < 0) {
            return Result.TRUNCATED;
        }
        frame = received;
        segment = s;
        bth = at;
        opcode = known;
        firstWords = words;
        lastWord = Wire.u32(s, at + Bth.ACKNOWLEDGE_REQUEST);
        payloadLength = payload;
        payloadSegment = received.isSplit ? received.body : s;
        payloadOffset = (received.isSplit ? received.bodyOffset : at) + known.headerLength();
        return Result.OK;
    }

    /** Returns the frame that this is a view of. */
    public Frame frame() {
        return frame;
    }

    /** Returns the memory that holds the headers. */
    public MemorySegment segment() {
        return segment;
    }

    /** Returns the memory that holds the payload: {@link #segment}, unless the frame is split. */
    public MemorySegment payloadSegment() {
        return payloadSegment;
    }

    /** Returns the operation. */
    public Opcode opcode() {
        return opcode;
    }

    /** Returns the packet sequence number. */
    public int psn() {
        return lastWord & Psn.MASK;
    }

    /** Returns the solicited event bit. */
    public boolean solicited() {
        return (firstWords >>> 48 & Bth.SOLICITED) != 0;
    }

    /** Returns the number of padding bytes, 0 to 3. */
    public int padCount() {
        return padCount(firstWords);
    }

    private static int padCount(long firstWords) {
        return (int) (firstWords >>> 52) & 3;
    }

    /** Returns the partition key. */
    public int partitionKey() {
        return (int) (firstWords >>> 32) & 0xffff;
    }

    /** Returns the destination queue pair number. */
    public int destinationQueuePair() {
        return (int) firstWords & 0xff_ffff;
    }

    /** Returns the acknowledge request bit. */
    public boolean acknowledgeRequest() {
        return lastWord < 0;
    }

    /** Returns the offset of the payload in {@link #payloadSegment}. */
    public long payloadOffset() {
        return payloadOffset;
    }

    /** Returns the offset of the last extension header of a length, the one before the payload, in {@link #segment}. */
    private long lastHeader(int length) {
        return bth + opcode.headerLength() - length;
    }

    /** Returns the length of the payload in bytes, without padding and ICRC. */
    public int payloadLength() {
        return payloadLength;
    }

    /** Returns the offset of the DETH, the first extension header of datagrams. */
    public long dethOffset() {
        return bth + Bth.LENGTH;
    }

    /** Returns the number of the shared receive queue that a request of an extended connection is for. */
    public int sharedReceiveQueue() {
        return XrcEth.sharedReceiveQueue(segment, bth + Bth.LENGTH);
    }

    /** Returns the offset of the RETH. */
    public long rethOffset() {
        return bth + opcode.rethOffset();
    }

    /** Returns the offset of the FETH, the first extension header of a FLUSH except for the XRCETH. */
    public long fethOffset() {
        return bth + opcode.extensionOffset();
    }

    /** Returns the offset of the AtomicETH. */
    public long atomicEthOffset() {
        return bth + opcode.extensionOffset();
    }

    /** Returns the offset of the AETH. */
    public long aethOffset() {
        return bth + Bth.LENGTH;
    }

    /** Returns the offset of the AtomicAckETH. */
    public long atomicAckEthOffset() {
        return bth + Bth.LENGTH + Aeth.LENGTH;
    }

    /** Returns the immediate data. */
    public int immediate() {
        return ImmDt.data(segment, lastHeader(ImmDt.LENGTH));
    }

    /** Returns the key to invalidate. */
    public int invalidateKey() {
        return Ieth.key(segment, lastHeader(Ieth.LENGTH));
    }

    /** Returns the syndrome of the AETH. */
    public int syndrome() {
        return Aeth.syndrome(segment, aethOffset());
    }

    /** Returns the number of messages completed by the responder, 24 bits, if the opcode has an AETH. */
    public int messageSequenceNumber() {
        return Aeth.messageSequenceNumber(segment, aethOffset());
    }
}
