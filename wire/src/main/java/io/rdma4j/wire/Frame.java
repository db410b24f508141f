package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * One RoCEv2 datagram in memory: its UDP payload (BTH to ICRC) and what is known of the IP and UDP headers around it.
 *
 * <p>A frame is a reusable holder, filled by whoever reads or builds it; it owns no memory. Addresses are in GID form,
 * sixteen bytes as two {@code long}s in network order, IPv4 as {@code ::ffff:a.b.c.d}. Not thread safe.
 */
public final class Frame {
    /** UDP port of RoCEv2. */
    public static final int UDP_PORT = 4791;

    /**
     * {@link #identification} of a frame whose IPv4 identification the receiver could not see, and that is presumed to be
     * 0; of one that is presumed to be {@code n}, it is {@code ~n}.
     */
    public static final int IDENTIFICATION_UNKNOWN = -1;

    private static final long V4_MAPPED = 0x0000_ffff_0000_0000L;

    /** Memory that holds the UDP payload. */
    public MemorySegment segment = MemorySegment.NULL;

    /** The same memory as {@link #segment}, from the same base, for the checksum code and the sockets. */
    public ByteBuffer buffer = ByteBuffer.allocate(0);

    /** Where the UDP payload begins in {@link #segment} and {@link #buffer}, in bytes. */
    public int offset;

    /** Bytes of UDP payload, the ICRC included. */
    public int length;

    /** Source address, upper half. */
    public long sourceHigh;

    /** Source address, lower half. */
    public long sourceLow;

    /** Destination address, upper half. */
    public long destinationHigh;

    /** Destination address, lower half. */
    public long destinationLow;

    /** UDP source port. */
    public int sourcePort;

    /** UDP destination port. */
    public int destinationPort = UDP_PORT;

    /** IPv4 identification; negative where it {@linkplain #IDENTIFICATION_UNKNOWN is unknown}; without meaning for IPv6. */
    public int identification;

    /** IPv4 type of service or IPv6 traffic class. */
    public int trafficClass;

    /** IPv4 time to live or IPv6 hop limit. */
    public int hopLimit = 64;

    /** Creates an empty frame. */
    public Frame() {}

    /** Whether the frame travels in IPv4: its destination address is an IPv4-mapped one. */
    public boolean isIpv4() {
        return isIpv4(destinationHigh, destinationLow);
    }

    /** Whether {@link #identification} is known, and not only presumed. */
    public boolean isIdentificationKnown() {
        return identification >= 0;
    }

    /** {@link #identification} as far as it is known, else what it is presumed to be. */
    public int presumedIdentification() {
        return identification >= 0 ? identification : ~identification;
    }

    /** Whether an address in GID form is an IPv4-mapped one. */
    public static boolean isIpv4(long high, long low) {
        return high == 0 && (low & 0xffff_ffff_0000_0000L) == V4_MAPPED;
    }

    /** Lower half of the GID form of an IPv4 address; the upper half is zero. */
    public static long ipv4Low(int address) {
        return V4_MAPPED | (address & 0xffff_ffffL);
    }

    /** Lets this frame stand for the same bytes and headers as {@code other}. */
    public void set(Frame other) {
        segment = other.segment;
        buffer = other.buffer;
        offset = other.offset;
        length = other.length;
        sourceHigh = other.sourceHigh;
        sourceLow = other.sourceLow;
        destinationHigh = other.destinationHigh;
        destinationLow = other.destinationLow;
        sourcePort = other.sourcePort;
        destinationPort = other.destinationPort;
        identification = other.identification;
        trafficClass = other.trafficClass;
        hopLimit = other.hopLimit;
    }
}
