package io.rdma4j.sharing;

/** Counts the packets that pass between this process and others of its host. Written under the engine lock; other threads may read stale values. */
public final class SharingCounters {
    /** Packets written to shared memory, which the engine counts as sent, too. */
    public long memorySentPackets;

    /** Packets read from shared memory, which the engine counts as received, too. */
    public long memoryReceivedPackets;

    /** Packets dropped because the process that they were for does not keep up with reading shared memory. */
    public long memoryDrops;

    /** Packets relayed to another process of this host. */
    public long relayedPackets;

    /** Packets dropped because the channel to another process was full. */
    public long relayDrops;

    /** Creates counters that are zero. */
    SharingCounters() {}
}
