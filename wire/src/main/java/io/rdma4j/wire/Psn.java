package io.rdma4j.wire;

/**
 * Packet sequence numbers: 24-bit serial numbers, compared modulo 2<sup>24</sup>.
 *
 * <p>A PSN is carried in an {@code int} whose upper eight bits are zero. Of two PSNs, the one that lies in the half
 * circle of 2<sup>23</sup> numbers behind the other is the older one. Source: InfiniBand Architecture volume 1,
 * chapter 9 (transport layer), "packet sequence numbers".
 */
public final class Psn {
    /** How many bits a PSN has. A variant for tests has few, so that PSNs wrap all the time: everything derives from this. */
    public static final int BITS = 24;

    /** Number of different PSNs. */
    public static final int COUNT = 1 << BITS;

    /** Bits of a PSN. */
    public static final int MASK = COUNT - 1;

    private Psn() {}

    /** The PSN {@code distance} packets after {@code psn}; {@code distance} may be negative. */
    public static int plus(int psn, int distance) {
        return (psn + distance) & MASK;
    }

    /** The PSN after {@code psn}. */
    public static int next(int psn) {
        return (psn + 1) & MASK;
    }

    /**
     * How far {@code a} lies after {@code b}: from -2<sup>23</sup> to 2<sup>23</sup>-1, negative where {@code a} is the
     * older one.
     */
    public static int distance(int a, int b) {
        return (a - b) << Integer.SIZE - BITS >> Integer.SIZE - BITS;
    }

    /** Whether {@code a} is older than {@code b}. */
    public static boolean isBefore(int a, int b) {
        return distance(a, b) < 0;
    }

    /** Whether {@code a} is newer than {@code b}. */
    public static boolean isAfter(int a, int b) {
        return distance(a, b) > 0;
    }
}
