package io.rdma4j.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * Invariant CRC: the last four bytes of every RoCEv2 packet, a CRC-32 over all fields that routers do not change.
 *
 * <p>The sum covers eight bytes of ones (in place of the local route header), the IP header, the UDP header, and the
 * UDP payload up to the ICRC. Mutable fields are summed as ones: the type of service, time to live and checksum of
 * IPv4, the traffic class, flow label and hop limit of IPv6, the UDP checksum, and the BTH byte with FECN and BECN. The
 * IPv4 header is assumed to have no options and the don't-fragment flag set, as all RoCEv2 peers send it. The result is
 * stored with its least significant byte first. Source: InfiniBand Architecture volume 1, 7.8.1, and annex A17
 * (RoCEv2).
 *
 * <p>The sum covers the IPv4 identification, which a UDP socket does not report to the receiver. The CRC is linear, so
 * a frame of unknown identification is checked by membership (decision 009). With the 32 bits of the CRC read as a
 * polynomial, the identification of a frame with {@code n} bytes after it shifts the sum by identification &times;
 * x<sup>8n+32</sup>. The difference between the received ICRC and the one computed for identification 0 is divided by
 * that power of x. The quotient of an intact frame has a degree below 16: it is the identification. Any other quotient
 * means that the frame is corrupted. Such a check has the strength of 16 of the 32 bits.
 *
 * <p>Linux's rdma_rxe sums the BTH and the headers of a FLUSH twice, since its table has no offset of a payload for
 * this opcode (Linux 6.2 to 6.12 at least). It sends that sum, and accepts no other. {@link #verify} accepts both;
 * {@link #sealFlushAsLinux} computes Linux's.
 *
 * <p>An instance holds scratch memory and is not thread safe: use one per engine or thread. No method allocates.
 * Methods preserve the position and limit of the frame's buffer.
 */
public final class Icrc {
    /** Length of the ICRC at the end of a frame, in bytes. */
    public static final int LENGTH = 4;

    /** Result of {@link #recoverIdentification} if no identification matches the ICRC. */
    public static final int NO_IDENTIFICATION = -1;

    private static final int SHORTEST_FRAME = Bth.LENGTH + LENGTH;
    private static final int LONGEST_FRAME = 0xffff;

    private static final int ROUTE_HEADER_LENGTH = 8;
    private static final int PREFIX_WORD_LENGTH = 4;
    private static final int IPV4_LENGTH = 20;
    private static final int IPV4_IDENTIFICATION = 4;
    private static final int IPV6_LENGTH = 40;
    private static final int UDP_LENGTH = 8;
    private static final int PROTOCOL_UDP = 17;

    /** IPv4: version 4, header of five words, type of service masked. */
    private static final int IPV4_FIRST_BYTES = 0x45ff;

    /** IPv4: don't-fragment flag, offset 0. */
    private static final int DONT_FRAGMENT = 0x4000;

    /** IPv4: masked time to live, then the protocol. */
    private static final int MASKED_TTL_AND_PROTOCOL = 0xff00 | PROTOCOL_UDP;

    /** IPv6: version 6, traffic class and flow label masked. */
    private static final int IPV6_FIRST_WORD = 0x6fff_ffff;

    /** Maximum number of bytes after the BTH that are copied and summed with the headers. A second call costs more. */
    private static final int SHORT_REST = 440;

    /**
     * Short packets are summed in one call over this number of bytes, or twice that. From 256 bytes on, Java's CRC-32
     * uses wide vectors, and sums 256 bytes in three quarters of the time of 128.
     */
    private static final int VECTOR_LENGTH = 256;

    /** End of the layout in the scratch memory. */
    private static final int END = 2 * VECTOR_LENGTH;

    private static final int MASKED_16 = 0xffff;
    private static final int MASKED_8 = 0xff;

    /** The CRC-32 polynomial without x^32, least significant bit first: bit 31 is x^0, bit 0 is x^31. */
    private static final int POLYNOMIAL = 0xedb8_8320;

    /**
     * The word that takes a CRC register of zero to the state after the ones of the route header. A leading word of
     * ones makes the initial register zero, and zeros keep it zero, so a prefix of any length can replace the route
     * header.
     */
    private static final int PREFIX_WORD;

    /**
     * Number of bytes after the IPv4 identification that the sum covers, less the frame's length. It is 14 of the IPv4
     * header and 8 of UDP, less the ICRC.
     */
    private static final int BEYOND_LENGTH = IPV4_LENGTH - 6 + UDP_LENGTH - LENGTH;

    /** x to the power of -(8 (length + {@link #BEYOND_LENGTH}) + 32), for lengths 0 to 255. */
    private static final int[] DIVISOR_LOW = new int[256];

    /** x to the power of -(8 * 256 * i). */
    private static final int[] DIVISOR_HIGH = new int[256];

    static {
        int one = 1 << 31;
        int low = divideByPowerOfX(one, 8 * BEYOND_LENGTH + 32);
        int highStep = divideByPowerOfX(one, 8 * 256);
        int high = one;
        for (int i = 0; i < 256; i++) {
            DIVISOR_LOW[i] = low;
            DIVISOR_HIGH[i] = high;
            low = divideByPowerOfX(low, 8);
            high = multiply(high, highStep);
        }
        CRC32 ones = new CRC32();
        for (int i = 0; i < ROUTE_HEADER_LENGTH; i++) {
            ones.update(MASKED_8);
        }
        PREFIX_WORD = divideByPowerOfX(~(int) ones.getValue(), 8 * PREFIX_WORD_LENGTH);
    }

    private final CRC32 crc = new CRC32();

    /** The prefix, the headers and a short payload, ending at {@link #END}. */
    private final byte[] scratch = new byte[END];

    private final ByteBuffer layout = ByteBuffer.wrap(scratch);
    private int prefixBegin;
    private int prefixEnd;

    // Length, addresses and ports of the frame whose headers the scratch memory holds.
    private int length;

    private long sourceHigh;
    private long sourceLow;
    private long destinationHigh;
    private long destinationLow;
    private int sourcePort;
    private int destinationPort;

    /** Creates an instance for one engine or thread. */
    public Icrc() {}

    /**
     * Computes a frame's ICRC and writes it into the frame's last four bytes.
     *
     * @param frame the frame; {@link Frame#length} includes the ICRC and is at least 16. If its
     *     {@link Frame#identification} is unknown, the presumed one is used
     */
    public void seal(Frame frame) {
        int sum = compute(frame, frame.presumedIdentification());
        frame.buffer.putInt(frame.offset + frame.length - LENGTH, inBufferOrder(sum, frame.buffer));
    }

    /**
     * Computes the ICRC of a FLUSH to Linux's rdma_rxe, which sums the headers twice, and writes it into the frame.
     *
     * @param frame the frame, with the opcode of a FLUSH
     */
    public void sealFlushAsLinux(Frame frame) {
        int sum = computeFlushOfLinux(frame, frame.presumedIdentification());
        frame.buffer.putInt(frame.offset + frame.length - LENGTH, inBufferOrder(sum, frame.buffer));
    }

    /** Returns whether a frame of at least one byte is a FLUSH. */
    public static boolean isFlush(Frame frame) {
        Opcode opcode = Opcode.of(frame.buffer.get(frame.offset));
        return opcode != null && opcode.isFlush();
    }

    /**
     * Returns whether a frame's last four bytes are its ICRC. The check is exact on IPv6 and if
     * {@link Frame#identification} is known. Otherwise it is by membership, and sets the identification of a valid
     * frame. This is cheapest if the presumed identification is the right one. A frame too short to hold a BTH and an
     * ICRC is invalid.
     */
    public boolean verify(Frame frame) {
        int length = frame.length;
        if (length < SHORTEST_FRAME || length > LONGEST_FRAME) {
            return false;
        }
        int presumed = frame.presumedIdentification();
        int difference = compute(frame, presumed) ^ stored(frame);
        return matches(frame, presumed, difference, length) || isFlush(frame) && verifyFlushOfLinux(frame, presumed);
    }

    private boolean verifyFlushOfLinux(Frame frame, int presumed) {
        int difference = computeFlushOfLinux(frame, presumed) ^ stored(frame);
        return matches(frame, presumed, difference, 2 * frame.length - LENGTH);
    }

    /**
     * Returns whether another identification explains the difference of the sums, and sets that identification if so.
     */
    private static boolean matches(Frame frame, int presumed, int difference, int summedLength) {
        if (difference == 0) {
            frame.identification = presumed;
            return true;
        }
        if (frame.isIdentificationKnown() || !frame.isIpv4()) {
            return false;
        }
        int found = identification(difference, summedLength);
        if (found == NO_IDENTIFICATION) {
            return false;
        }
        frame.identification = found ^ presumed;
        return true;
    }

    /**
     * Recovers the IPv4 identification that a frame was sent with from its ICRC.
     *
     * @return the identification, 0 to 65535, or {@link #NO_IDENTIFICATION} if the frame is corrupted, too short or not
     *     IPv4
     */
    public int recoverIdentification(Frame frame) {
        int length = frame.length;
        if (length < SHORTEST_FRAME || length > LONGEST_FRAME || !frame.isIpv4()) {
            return NO_IDENTIFICATION;
        }
        return identification(compute(frame, 0) ^ stored(frame), length);
    }

    /**
     * Replaces the IPv4 identification of a frame and updates its ICRC. A valid ICRC stays valid, an invalid one stays
     * invalid.
     *
     * @param frame the frame, with the identification for which its ICRC was computed
     * @param identification the new identification, 0 to 65535
     */
    public void changeIdentification(Frame frame, int identification) {
        int present = frame.presumedIdentification();
        if (present != identification && frame.isIpv4() && frame.length >= SHORTEST_FRAME) {
            int change = compute(frame, present) ^ compute(frame, identification);
            frame.buffer.putInt(
                    frame.offset + frame.length - LENGTH, inBufferOrder(stored(frame) ^ change, frame.buffer));
        }
        frame.identification = identification;
    }

    private static int stored(Frame frame) {
        return inBufferOrder(frame.buffer.getInt(frame.offset + frame.length - LENGTH), frame.buffer);
    }

    /** Converts an {@code int} that is stored least significant byte first to or from the byte order of the buffer. */
    private static int inBufferOrder(int sum, ByteBuffer buffer) {
        return buffer.order() == ByteOrder.LITTLE_ENDIAN ? sum : Integer.reverseBytes(sum);
    }

    private int compute(Frame frame, int identification) {
        int rest = frame.length - LENGTH - Bth.LENGTH;
        boolean isShort = rest <= SHORT_REST;
        int bthAt = END - Bth.LENGTH - (isShort ? rest : 0);
        int at = bthAt - UDP_LENGTH - (frame.isIpv4() ? IPV4_LENGTH : IPV6_LENGTH);
        int begin = at - PREFIX_WORD_LENGTH;
        if (isShort) {
            begin = begin - PREFIX_WORD_LENGTH >= END - VECTOR_LENGTH ? END - VECTOR_LENGTH : 0;
        }
        if (!isLaidOut(frame)) {
            prefix(begin, at);
            headers(frame, at);
        }
        if (frame.isIpv4()) {
            layout.putInt(at + IPV4_IDENTIFICATION, identification << 16 | DONT_FRAGMENT);
        }
        layout.put(bthAt, frame.buffer, frame.offset, isShort ? Bth.LENGTH + rest : Bth.LENGTH);
        scratch[bthAt + Bth.RESERVED_8A] = (byte) MASKED_8;
        CRC32 sum = crc;
        sum.reset();
        sum.update(scratch, begin, END - begin);
        if (!isShort) {
            update(sum, frame.buffer, frame.offset + Bth.LENGTH, rest);
        }
        return (int) sum.getValue();
    }

    private int computeFlushOfLinux(Frame frame, int identification) {
        int _ = compute(frame, identification);
        update(crc, frame.buffer, frame.offset, frame.length - LENGTH);
        return (int) crc.getValue();
    }

    private static void update(CRC32 sum, ByteBuffer buffer, int from, int length) {
        int position = buffer.position();
        int limit = buffer.limit();
        // Limit before position: a limit below the position would move the position.
        buffer.limit(from + length).position(from);
        sum.update(buffer);
        buffer.limit(limit).position(position);
    }

    /**
     * Returns whether the laid-out headers, except the identification, are those of {@code frame}, as in most of a
     * burst.
     */
    private boolean isLaidOut(Frame frame) {
        return frame.length == length
                && frame.sourceLow == sourceLow
                && frame.destinationLow == destinationLow
                && frame.sourceHigh == sourceHigh
                && frame.destinationHigh == destinationHigh
                && frame.sourcePort == sourcePort
                && frame.destinationPort == destinationPort;
    }

    /** Writes the prefix that replaces the route header, from {@code begin} to {@code end}: one word or more. */
    private void prefix(int begin, int end) {
        if (begin == prefixBegin && end == prefixEnd) {
            return;
        }
        prefixBegin = begin;
        prefixEnd = end;
        Arrays.fill(scratch, begin, end, (byte) 0);
        int word = Integer.reverseBytes(PREFIX_WORD);
        layout.putInt(begin, -1);
        int last = end - PREFIX_WORD_LENGTH;
        layout.putInt(last, last == begin ? ~word : word);
    }

    /** Lays out the masked IP header, without the identification, and the masked UDP header. */
    private void headers(Frame frame, int begin) {
        length = frame.length;
        sourceHigh = frame.sourceHigh;
        sourceLow = frame.sourceLow;
        destinationHigh = frame.destinationHigh;
        destinationLow = frame.destinationLow;
        sourcePort = frame.sourcePort;
        destinationPort = frame.destinationPort;
        ByteBuffer h = layout;
        int at = begin;
        int udpLength = UDP_LENGTH + frame.length;
        if (frame.isIpv4()) {
            h.putInt(at, IPV4_FIRST_BYTES << 16 | IPV4_LENGTH + udpLength & 0xffff);
            h.putInt(at + 8, MASKED_TTL_AND_PROTOCOL << 16 | MASKED_16);
            h.putInt(at + 12, (int) frame.sourceLow);
            h.putInt(at + 16, (int) frame.destinationLow);
            at += IPV4_LENGTH;
        } else {
            h.putInt(at, IPV6_FIRST_WORD);
            h.putInt(at + 4, udpLength << 16 | PROTOCOL_UDP << 8 | MASKED_8);
            h.putLong(at + 8, frame.sourceHigh);
            h.putLong(at + 16, frame.sourceLow);
            h.putLong(at + 24, frame.destinationHigh);
            h.putLong(at + 32, frame.destinationLow);
            at += IPV6_LENGTH;
        }
        h.putInt(at, frame.sourcePort << 16 | frame.destinationPort & 0xffff);
        h.putInt(at + 4, udpLength << 16 | MASKED_16);
    }

    /** Returns the identification that shifts the sum of a frame of this length by {@code difference}, or none. */
    private static int identification(int difference, int length) {
        int quotient = multiply(multiply(difference, DIVISOR_LOW[length & 0xff]), DIVISOR_HIGH[length >>> 8]);
        if ((quotient & 0xffff) != 0) {
            return NO_IDENTIFICATION;
        }
        // Bits 31:16 are x^0 to x^15. The first byte of the identification on the wire is in bits 23:16.
        return (quotient >>> 24) | (quotient >>> 8 & 0xff00);
    }

    /** Multiplies two polynomials modulo the CRC polynomial. Bit 31 is x^0. */
    private static int multiply(int a, int b) {
        int product = 0;
        int shifted = b;
        for (int rest = a; rest != 0; rest <<= 1) {
            product ^= shifted & rest >> 31;
            shifted = shifted >>> 1 ^ POLYNOMIAL & -(shifted & 1);
        }
        return product;
    }

    private static int divideByPowerOfX(int value, int exponent) {
        int quotient = value;
        for (int i = 0; i < exponent; i++) {
            // Adding the polynomial makes the value divisible by x. Its x^32 becomes x^31, which is bit 0.
            quotient = quotient < 0 ? (quotient ^ POLYNOMIAL) << 1 | 1 : quotient << 1;
        }
        return quotient;
    }
}
