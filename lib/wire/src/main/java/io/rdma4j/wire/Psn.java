package io.rdma4j.wire;

/**
 * Arithmetic of packet sequence numbers: 24-bit serial numbers, compared modulo 2<sup>24</sup>.
 *
 * <p>A PSN is held in an {@code int} whose upper eight bits are zero. A PSN is older than another if it is one of the
 * 2<sup>23</sup> numbers before it. Source: InfiniBand Architecture volume 1, chapter 9 (transport layer), "packet
 * sequence numbers".
 */
public final class Psn {
    /** Number of bits of a PSN. A test variant of the protocol reduces it so that PSNs wrap often. */
    public static final int BITS = 24;

    /** Number of distinct PSNs. */
    public static final int COUNT = 1 << BITS;

    /** Mask of the bits of a PSN. */
    public static final int MASK = COUNT - 1;

    private Psn() {}

    /** Returns the PSN {@code distance} packets after {@code psn}. {@code distance} may be negative. */
    public static int plus(int psn, int distance) {
        return (psn + distance) & MASK;
    }

    /** Returns the PSN after {@code psn}. */
    public static int next(int psn) {
        return (psn + 1) & MASK;
    }

    /**
     * Returns the distance from {@code b} to {@code a}: -2<sup>23</sup> to 2<sup>23</sup>-1, negative if {@code a} is
     * older.
     */
    public static int distance(int a, int b) {
        return (a - b) << Integer.SIZE - BITS >> Integer.SIZE - BITS;
    }

    /** Returns whether {@code a} is older than {@code b}. */
    public static boolean isBefore(int a, int b) {
        return distance(a, b) < 0;
    }

    /** Returns whether {@code a} is newer than {@code b}. */
    public static boolean isAfter(int a, int b) {
        return distance(a, b) > 0;
    }
}
