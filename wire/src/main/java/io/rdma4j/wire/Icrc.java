package io.rdma4j.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * Invariant CRC: the last four bytes of every RoCEv2 packet, a CRC-32 over all that no router changes.
 *
 * <p>The sum runs over eight bytes of ones (in place of the local route header), the IP header, the UDP header, and the
 * UDP payload up to the ICRC. Counted as ones are: of IPv4 the type of service, time to live and checksum; of IPv6 the
 * traffic class, flow label and hop limit; the UDP checksum; and the BTH's byte with FECN and BECN. The IPv4 header is
 * taken to have no options and the don't-fragment flag set, as all RoCEv2 peers send it. The result is stored with its
 * least significant byte first. Source: InfiniBand Architecture volume 1, 7.8.1, and annex A17 (RoCEv2).
 *
 * <p>The sum covers the IPv4 identification, which a UDP socket does not show to the receiver. The CRC is linear, so a
 * frame of unknown identification is checked by membership: with the CRC's 32 bits read as a polynomial, the
 * identification of a frame with {@code n} bytes behind it shifts the sum by identification &times; x<sup>8n+32</sup>.
 * The difference between the ICRC received and the one computed for identification 0, divided by that power of x, is
 * therefore a polynomial of degree below 16 (the identification itself) where the frame is whole, and anything else
 * where it is damaged. Sixteen of the 32 bits still check.
 *
 * <p>An instance holds scratch memory: one per engine or thread. No method allocates. The position and limit of a
 * frame's buffer are as before when a method returns.
 */
public final class Icrc {
    /** Bytes of the ICRC at the end of a frame. */
    public static final int LENGTH = 4;

    /** {@link #recoverIdentification}'s answer where no identification makes the ICRC right. */
    public static final int NO_IDENTIFICATION = -1;

    private static final int SHORTEST_FRAME = Bth.LENGTH + LENGTH;
    private static final int LONGEST_FRAME = 0xffff;

    private static final int ROUTE_HEADER_LENGTH = 8;
    private static final int LEAD_WORD_LENGTH = 4;
    private static final int IPV4_LENGTH = 20;
    private static final int IPV4_IDENTIFICATION = 4;
    private static final int IPV6_LENGTH = 40;
    private static final int UDP_LENGTH = 8;
    private static final int PROTOCOL_UDP = 17;

    /** IPv4 version 4, header of five words, type of service masked. */
    private static final int IPV4_FIRST_BYTES = 0x45ff;

    /** IPv4 don't-fragment flag, offset 0. */
    private static final int DONT_FRAGMENT = 0x4000;

    /** Masked time to live, then the protocol. */
    private static final int MASKED_TTL_AND_PROTOCOL = 0xff00 | PROTOCOL_UDP;

    /** IPv6 version 6, traffic class and flow label masked. */
    private static final int IPV6_FIRST_WORD = 0x6fff_ffff;

    /** Up to so many bytes behind the BTH are copied behind the headers and summed up with them: a call costs more. */
    private static final int SHORT_REST = 440;

    /**
     * What is summed up at once are so many bytes, or twice that: from 256 bytes on Java's CRC-32 takes wide vectors, and
     * sums up 256 bytes in three quarters of the time of 128.
     */
    private static final int VECTOR_LENGTH = 256;

    /** Where everything that is laid out to be summed up ends. */
    private static final int END = 2 * VECTOR_LENGTH;

    private static final int MASKED_16 = 0xffff;
    private static final int MASKED_8 = 0xff;

    /** The CRC-32 polynomial without x^32, least significant bit first: bit 31 is x^0, bit 0 is x^31. */
    private static final int POLYNOMIAL = 0xedb8_8320;

    /**
     * The word that leads a register of zero to where the ones of the route header lead the sum. Words of ones make the
     * register zero at the beginning, and zeros leave it so: thus a sum can be made longer in front.
     */
    private static final int LEAD_WORD;

    /**
     * Bytes that the sum covers behind the IPv4 identification, beyond the frame's length: 14 of the IPv4 header and 8
     * of UDP, less the ICRC.
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
        LEAD_WORD = divideByPowerOfX(~(int) ones.getValue(), 8 * LEAD_WORD_LENGTH);
    }

    private final CRC32 crc = new CRC32();

    /** The lead, the headers and what is short behind them, up to {@link #END}. */
    private final byte[] scratch = new byte[END];

    private final ByteBuffer laidOut = ByteBuffer.wrap(scratch);
    private int leadBegin;
    private int leadEnd;

    /** What the headers were laid out for. */
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
     * @param frame the frame; {@link Frame#length} counts the ICRC and is at least 16. An unknown
     *     {@link Frame#identification} counts as what it is presumed to be
     */
    public void seal(Frame frame) {
        int sum = compute(frame, frame.presumedIdentification());
        frame.buffer.putInt(frame.offset + frame.length - LENGTH, inBufferOrder(sum, frame.buffer));
    }

    /**
     * Whether a frame's last four bytes are its ICRC: exact on IPv6 and where {@link Frame#identification} is known,
     * else by membership: then the identification that makes it right becomes the frame's, at least cost if it is the
     * presumed one. A frame too short to hold a BTH and an ICRC has none.
     */
    public boolean verify(Frame frame) {
        int length = frame.length;
        if (length < SHORTEST_FRAME || length > LONGEST_FRAME) {
            return false;
        }
        int presumed = frame.presumedIdentification();
        int difference = compute(frame, presumed) ^ stored(frame);
        if (difference == 0) {
            frame.identification = presumed;
            return true;
        }
        if (frame.isIdentificationKnown() || !frame.isIpv4()) {
            return false;
        }
        int found = identification(difference, length);
        if (found == NO_IDENTIFICATION) {
            return false;
        }
        frame.identification = found ^ presumed;
        return true;
    }

    /**
     * Finds the IPv4 identification that a frame was sent with, from its ICRC.
     *
     * @return the identification, 0 to 65535, or {@link #NO_IDENTIFICATION} where the frame is damaged, too short or
     *     not IPv4
     */
    public int recoverIdentification(Frame frame) {
        int length = frame.length;
        if (length < SHORTEST_FRAME || length > LONGEST_FRAME || !frame.isIpv4()) {
            return NO_IDENTIFICATION;
        }
        return identification(compute(frame, 0) ^ stored(frame), length);
    }

    /**
     * Gives a frame another IPv4 identification and changes its ICRC as that asks for: it is right afterwards if it was
     * right before, and wrong if it was wrong.
     *
     * @param frame the frame, with the identification that its ICRC was made with
     * @param identification the new one, 0 to 65535
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

    /** The ICRC's least significant byte goes first, whatever order the frame's owner reads its buffer in. */
    private static int inBufferOrder(int sum, ByteBuffer buffer) {
        return buffer.order() == ByteOrder.LITTLE_ENDIAN ? sum : Integer.reverseBytes(sum);
    }

    private int compute(Frame frame, int identification) {
        int rest = frame.length - LENGTH - Bth.LENGTH;
        boolean isShort = rest <= SHORT_REST;
        int bthAt = END - Bth.LENGTH - (isShort ? rest : 0);
        int at = bthAt - UDP_LENGTH - (frame.isIpv4() ? IPV4_LENGTH : IPV6_LENGTH);
        int begin = at - LEAD_WORD_LENGTH;
        if (isShort) {
            begin = begin - LEAD_WORD_LENGTH >= END - VECTOR_LENGTH ? END - VECTOR_LENGTH : 0;
        }
        if (!isLaidOut(frame)) {
            lead(begin, at);
            headers(frame, at);
        }
        if (frame.isIpv4()) {
            laidOut.putInt(at + IPV4_IDENTIFICATION, identification << 16 | DONT_FRAGMENT);
        }
        laidOut.put(bthAt, frame.buffer, frame.offset, isShort ? Bth.LENGTH + rest : Bth.LENGTH);
        scratch[bthAt + Bth.RESERVED_8A] = (byte) MASKED_8;
        CRC32 sum = crc;
        sum.reset();
        sum.update(scratch, begin, END - begin);
        if (!isShort) {
            sumUp(sum, frame.buffer, frame.offset + Bth.LENGTH, rest);
        }
        return (int) sum.getValue();
    }

    private static void sumUp(CRC32 sum, ByteBuffer buffer, int from, int length) {
        int position = buffer.position();
        int limit = buffer.limit();
        // Limit before position: a limit below the position would drag the position along.
        buffer.limit(from + length).position(from);
        sum.update(buffer);
        buffer.limit(limit).position(position);
    }

    /** Whether all but the identification is, and is where it is, as for the frame before, which is so for most of a burst. */
    private boolean isLaidOut(Frame frame) {
        return frame.length == length
                && frame.sourceLow == sourceLow
                && frame.destinationLow == destinationLow
                && frame.sourceHigh == sourceHigh
                && frame.destinationHigh == destinationHigh
                && frame.sourcePort == sourcePort
                && frame.destinationPort == destinationPort;
    }

    /** Lays out what stands for the route header, from {@code begin} to {@code end}: one word, or at least two. */
    private void lead(int begin, int end) {
        if (begin == leadBegin && end == leadEnd) {
            return;
        }
        leadBegin = begin;
        leadEnd = end;
        Arrays.fill(scratch, begin, end, (byte) 0);
        int word = Integer.reverseBytes(LEAD_WORD);
        laidOut.putInt(begin, -1);
        int last = end - LEAD_WORD_LENGTH;
        laidOut.putInt(last, last == begin ? ~word : word);
    }

    /** Lays out the IP header, but for the identification, and the UDP header, masked. */
    private void headers(Frame frame, int begin) {
        length = frame.length;
        sourceHigh = frame.sourceHigh;
        sourceLow = frame.sourceLow;
        destinationHigh = frame.destinationHigh;
        destinationLow = frame.destinationLow;
        sourcePort = frame.sourcePort;
        destinationPort = frame.destinationPort;
        ByteBuffer h = laidOut;
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

    /** The identification that shifts the sum of a frame of this length by {@code difference}, or none. */
    private static int identification(int difference, int length) {
        int quotient = multiply(multiply(difference, DIVISOR_LOW[length & 0xff]), DIVISOR_HIGH[length >>> 8]);
        if ((quotient & 0xffff) != 0) {
            return NO_IDENTIFICATION;
        }
        // The upper half is x^0 to x^15: the identification's two bytes as sent, the first one in the low byte.
        return (quotient >>> 24) | (quotient >>> 8 & 0xff00);
    }

    /** Product of two polynomials modulo the CRC polynomial, bit 31 being x^0. */
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
            // An odd value becomes even by adding the polynomial, whose x^32 then divides to x^31, bit 0.
            quotient = quotient < 0 ? (quotient ^ POLYNOMIAL) << 1 | 1 : quotient << 1;
        }
        return quotient;
    }
}
