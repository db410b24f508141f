package io.rdma4j.soft.device;

import io.rdma4j.link.system.LinkSets;
import java.util.random.RandomGenerator;

/**
 * GUIDs of rdma4j processes in messages of connection management. The first 24 bits identify rdma4j, the next one is a flag, and
 * the others are random.
 *
 * <p>The prefix promises that a peer's packets come from one UDP port. It is no proof of identity.
 */
public final class ProcessGuid {
    /** "RJ4", as the start of a locally administered identifier, which no manufacturer assigns. */
    private static final long PREFIX = 0x52_4a34L << 40;

    private static final long PREFIX_MASK = 0xff_ffffL << 40;

    /** Set if the process sees congestion marks of the packets that it receives, and reports them. */
    private static final long REPORTS_MARKS = 1L << 39;

    private static final long RANDOM_MASK = REPORTS_MARKS - 1;

    private ProcessGuid() {}

    /** Returns a new GUID. */
    static long draw(RandomGenerator random) {
        long capability = LinkSets.readsTrafficClass() ? REPORTS_MARKS : 0;
        return PREFIX | capability | random.nextLong() & RANDOM_MASK;
    }

    /** Returns whether a GUID belongs to an rdma4j process. */
    public static boolean isRdma4jPeer(long guid) {
        return (guid & PREFIX_MASK) == PREFIX;
    }

    /** Returns whether a GUID belongs to an rdma4j process that reports congestion marks to their sender. */
    public static boolean reportsMarks(long guid) {
        return isRdma4jPeer(guid) && (guid & REPORTS_MARKS) != 0;
    }
}
