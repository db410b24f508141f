package io.rdma4j.soft.engine;

import io.rdma4j.sharing.SharingCounters;

/**
 * The counters of an engine; {@link SharingCounters} counts the packets between processes. Written under the engine lock; other
 * threads may read stale values.
 */
public final class EngineCounters {
    /** Packets read from links, from shared memory and from the process that owns an address. */
    public long receivedPackets;

    /** Packets handed to links or written to shared memory. */
    public long sentPackets;

    /** Packets delivered to a queue pair of this process. */
    public long deliveredPackets;

    /** Packets of queue pair 1 delivered to the connection manager. */
    public long gsiPackets;

    /** Packets handed over to another engine of this process, since they arrived at the wrong socket. */
    public long handedOverPackets;

    /** Packets dropped because the queue to another engine was full. */
    public long handoverDrops;

    /** Dropped: shorter than a BTH and an ICRC. */
    public long tooShort;

    /** Dropped: reserved opcode. */
    public long badOpcode;

    /** Dropped: shorter than its headers require. */
    public long truncated;

    /** Dropped: transport header version not 0. */
    public long badVersion;

    /** Dropped: no such queue pair. */
    public long badQueuePairNumber;

    /** Dropped: for queue pair 1, but not a datagram. Other queue pairs count such packets themselves. */
    public long badTransport;

    /** Dropped: partition key of another partition, for queue pair 1. Other queue pairs count such packets themselves. */
    public long badPartitionKey;

    /** Dropped: queue key of queue pair 1 wrong. */
    public long badQueueKey;

    /** Dropped: ICRC wrong. */
    public long icrcErrors;

    /** Dropped: a datagram to an address that does not belong to the queue pair's device. */
    public long badDestination;

    /** Queue pairs that failed because their memory became inaccessible or because of an error in the transport. */
    public long queuePairFailures;

    /** Times that received frames were lost because there was no memory to process them. */
    public long inputFaults;

    /** Times that frames were lost because there was no memory to send them. */
    public long outputFaults;

    /** Times that all queue pairs were failed because of an error that belongs to none. */
    public long deviceFaults;

    /** Duty cycles. */
    public long cycles;

    /** Creates counters that are zero. */
    EngineCounters() {}

    /** Adds another engine's counters. */
    void add(EngineCounters other) {
        receivedPackets += other.receivedPackets;
        sentPackets += other.sentPackets;
        deliveredPackets += other.deliveredPackets;
        gsiPackets += other.gsiPackets;
        handedOverPackets += other.handedOverPackets;
        handoverDrops += other.handoverDrops;
        tooShort += other.tooShort;
        badOpcode += other.badOpcode;
        truncated += other.truncated;
        badVersion += other.badVersion;
        badQueuePairNumber += other.badQueuePairNumber;
        badTransport += other.badTransport;
        badPartitionKey += other.badPartitionKey;
        badQueueKey += other.badQueueKey;
        icrcErrors += other.icrcErrors;
        badDestination += other.badDestination;
        queuePairFailures += other.queuePairFailures;
        inputFaults += other.inputFaults;
        outputFaults += other.outputFaults;
        deviceFaults += other.deviceFaults;
        cycles += other.cycles;
    }

    /** Returns the number of packets dropped before they reached a queue pair. */
    public long dropped() {
        return tooShort
                + badOpcode
                + truncated
                + badVersion
                + badQueuePairNumber
                + badTransport
                + badPartitionKey
                + badQueueKey
                + icrcErrors
                + badDestination;
    }
}
