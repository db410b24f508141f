package io.rdma4j.sharing;

/**
 * The counters of the packets between this process and others of its host. Written under the engine lock; other threads may read
 * stale values.
 */
public final class SharingCounters {
    /** Packets written to shared memory, which the engine also counts as sent. */
    public long memorySentPackets;

    /** Packets read from shared memory, which the engine also counts as received. */
    public long memoryReceivedPackets;

    /** Packets dropped because the receiving process does not keep up with reading shared memory. */
    public long memoryDrops;

    /** Packets relayed to another process of this host. */
    public long relayedPackets;

    /** Packets dropped because the channel to another process was full. */
    public long relayDrops;

    /** Creates counters that are zero. */
    SharingCounters() {}
}
