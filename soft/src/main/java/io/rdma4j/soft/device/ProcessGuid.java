package io.rdma4j.soft.device;

import java.util.random.RandomGenerator;

/**
 * GUIDs of rdma4j's processes, random except for the first 24 bits, which identify rdma4j.
 *
 * <p>The prefix promises that a peer's packets come from one UDP port. It is no proof of identity.
 */
public final class ProcessGuid {
    /** "RJ4", as the start of a locally administered identifier, which no manufacturer has. */
    private static final long PREFIX = 0x52_4a34L << 40;

    private static final long PREFIX_MASK = 0xff_ffffL << 40;

    /** One bit is excluded, so that interface numbers can be added to a GUID. */
    private static final long RANDOM_MASK = (1L << 39) - 1;

    private ProcessGuid() {}

    /** Returns a new GUID. */
    static long draw(RandomGenerator random) {
        return PREFIX | random.nextLong() & RANDOM_MASK;
    }

    /** Returns whether a GUID is one of rdma4j's. */
    public static boolean isRdma4jPeer(long guid) {
        return (guid & PREFIX_MASK) == PREFIX;
    }
}
