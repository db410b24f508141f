package io.rdma4j.soft.device;

import java.util.random.RandomGenerator;

/**
 * GUIDs of rdma4j's processes: random but for the first 24 bits, by which rdma4j knows its own kind. That is a promise about
 * the UDP ports that packets come from, and no proof of identity.
 */
public final class ProcessGuid {
    /** "RJ4", as the start of a locally administered identifier: no manufacturer has it. */
    private static final long PREFIX = 0x52_4a34L << 40;

    private static final long PREFIX_MASK = 0xff_ffffL << 40;

    /** One bit is left out, so that interfaces can be counted up from a GUID. */
    private static final long RANDOM_MASK = (1L << 39) - 1;

    private ProcessGuid() {}

    /** A new GUID. */
    static long draw(RandomGenerator random) {
        return PREFIX | random.nextLong() & RANDOM_MASK;
    }

    /** Whether a GUID is one of rdma4j's. */
    public static boolean isRdma4jPeer(long guid) {
        return (guid & PREFIX_MASK) == PREFIX;
    }
}
