package io.rdma4j.wire;

/**
 * Explicit congestion notification: the two low bits of the IPv4 type of service or IPv6 traffic class. A sender that
 * reacts to marks sends {@link #CAPABLE}, which a congested router replaces by {@link #MARKED} instead of dropping the packet.
 * Source: RFC 3168, 5.
 */
public final class Ecn {
    /** The codepoint ECT(0) of a sender that reacts to marks; network cards use the same of the two. */
    public static final int CAPABLE = 0b10;

    /** The codepoint CE of a packet that has met congestion. */
    public static final int MARKED = 0b11;

    private static final int MASK = 0b11;

    private Ecn() {}

    /** Returns whether a packet with a traffic class has met congestion. */
    public static boolean isMarked(int trafficClass) {
        return (trafficClass & MASK) == MARKED;
    }

    /** Returns whether the sender of a packet with a traffic class reacts to marks. */
    public static boolean isCapable(int trafficClass) {
        return (trafficClass & MASK) != 0;
    }

    /** Returns a traffic class with the codepoint {@link #CAPABLE}. */
    public static int capable(int trafficClass) {
        return trafficClass & ~MASK | CAPABLE;
    }
}
