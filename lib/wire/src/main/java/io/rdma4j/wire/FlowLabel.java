package io.rdma4j.wire;

/**
 * Flow labels and the UDP source ports derived from them, which spread connections over the paths of a network.
 * Receivers ignore both. The rules are those of Linux as a sender. Source: InfiniBand Architecture volume 1, annex A17
 * (RoCEv2), and Linux's behaviour.
 */
public final class FlowLabel {
    /** Mask of the 20 bits of a flow label. */
    public static final int MASK = 0xf_ffff;

    /** First of the 2<sup>14</sup> UDP source ports of RoCEv2. */
    public static final int FIRST_SOURCE_PORT = 0xc000;

    private static final int PORT_BITS = 14;
    private static final int PORT_MASK = (1 << PORT_BITS) - 1;

    /** 2^32 divided by the golden ratio, negated: Linux's multiplier for hashes of 32 bits. */
    private static final int HASH_MULTIPLIER = 0x61c8_8647;

    private FlowLabel() {}

    /** Returns the flow label that the active side chooses for a connection between two rdma_cm ports. */
    public static int ofPorts(int sourcePort, int destinationPort) {
        return sourcePort * 31 + destinationPort & MASK;
    }

    /** Returns the flow label of a connection without an assigned one, derived from both queue pair numbers. */
    public static int ofQueuePairs(int localQueuePair, int remoteQueuePair) {
        long product = (localQueuePair & 0xffff_ffffL) * (remoteQueuePair & 0xffff_ffffL);
        product ^= product >>> 20;
        product ^= product >>> 40;
        return (int) product & MASK;
    }

    /** Returns the UDP source port of a connection's packets, in both directions. */
    public static int sourcePort(int flowLabel) {
        int label = flowLabel & MASK;
        return FIRST_SOURCE_PORT | label & PORT_MASK ^ label >>> PORT_BITS;
    }

    /** Returns the UDP source port of a datagram queue pair's packets, including those of queue pair 1. */
    public static int datagramSourcePort(int queuePair) {
        return FIRST_SOURCE_PORT + (queuePair * HASH_MULTIPLIER >>> 32 - PORT_BITS);
    }
}
