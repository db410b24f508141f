package io.rdma4j.wire;

import io.rdma4j.value.Gid;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * One RoCEv2 datagram in memory: its UDP payload (BTH to ICRC) and the known fields of its IP and UDP headers.
 *
 * <p>A frame is a reusable holder and owns no memory. Addresses are in GID form: the two {@code long}s of a
 * {@link Gid}. Not thread safe.
 */
public final class Frame {
    /** UDP port of RoCEv2. */
    public static final int UDP_PORT = 4791;

    /**
     * The {@link #identification} of a frame whose IPv4 identification is unknown to the receiver and presumed to be 0.
     * If it is presumed to be {@code n}, the field is {@code ~n}.
     */
    public static final int IDENTIFICATION_UNKNOWN = -1;

    /** The bytes of a {@linkplain #isSplit split} frame that are in {@link #segment}: more than all headers of any packet. */
    public static final int SPLIT_BYTES = 128;

    /** Memory that holds the UDP payload. */
    public MemorySegment segment = MemorySegment.NULL;

    /** The same memory as {@link #segment}, with the same base, for the checksum code and the sockets. */
    public ByteBuffer buffer = ByteBuffer.allocate(0);

    /** Offset of the UDP payload in {@link #segment} and {@link #buffer}, in bytes. */
    public int offset;

    /** Length of the UDP payload in bytes, including the ICRC. */
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

    /** IPv4 identification; negative if {@linkplain #IDENTIFICATION_UNKNOWN unknown}; not defined for IPv6. */
    public int identification;

    /** IPv4 type of service or IPv6 traffic class. */
    public int trafficClass;

    /** IPv4 time to live or IPv6 hop limit. */
    public int hopLimit = 64;

    /** IPv6 flow label of a frame to be sent, 20 bits; 0 if the system chooses one, and in received frames. */
    public int flowLabel;

    /**
     * True if the last four bytes are an ICRC. They are not if the frame comes through shared memory from a process of this host,
     * which needs none.
     */
    public boolean isSealed = true;

    /**
     * True if {@link #segment} has the headers of the frame only. Its payload is then in {@link #body}. Such a frame
     * comes through shared memory, is not sealed, and is not for queue pair 1.
     */
    public boolean isSplit;

    /** Memory that holds the payload of a split frame. Read only the payload from it: its writer may change it. */
    public MemorySegment body = MemorySegment.NULL;

    /**
     * Offset in {@link #body}, in bytes, at which a split frame starts, as {@link #offset} is for a frame that is not
     * split.
     */
    public long bodyOffset;

    /** Creates an empty frame. */
    public Frame() {}

    /** Returns whether the frame is carried by IPv4, that is, its destination address is IPv4-mapped. */
    public boolean isIpv4() {
        return Gid.isIpv4(destinationHigh, destinationLow);
    }

    /** Returns whether {@link #identification} is known rather than presumed. */
    public boolean isIdentificationKnown() {
        return identification >= 0;
    }

    /** Returns the IPv4 identification if it is known, else the presumed one. */
    public int presumedIdentification() {
        return identification >= 0 ? identification : ~identification;
    }

    /** Copies all fields of {@code other}. The bytes are shared, not copied. */
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
        flowLabel = other.flowLabel;
        isSealed = other.isSealed;
        isSplit = other.isSplit;
        body = other.body;
        bodyOffset = other.bodyOffset;
    }
}
