package io.rdma4j.transport;

/**
 * Event counters of one queue pair since its creation. Plain fields, written by the thread that drives the queue pair;
 * other threads may read slightly stale values. Names follow the {@code hw_counters} of Linux rdma_rxe where it has the
 * same.
 */
public final class QueuePairCounters {
    /** Packets written by {@link QueuePairMachine#pollTransmit}. */
    public long sentPackets;

    /** Packets passed to {@link QueuePairMachine#onPacket}. Each is also counted as either processed or dropped. */
    public long receivedPackets;

    /** Received packets that had an effect or were answered. */
    public long processedPackets;

    /** Received packets that were dropped for any reason; counters below give reasons. */
    public long droppedPackets;

    /** Dropped: wrong source address, or destination address not of this queue pair. */
    public long badSource;

    /** Dropped: the peer's address, but not its UDP port ({@link SourcePortCheck#ENFORCE}). */
    public long badSourcePort;

    /** Changes of the peer's UDP port ({@link SourcePortCheck#COUNT}); these packets were accepted. */
    public long changedSourcePort;

    /** Packets with a PSN far from any recently expected one, which indicates guessing. */
    public long outOfWindowPsns;

    /** Seconds in which enough packets with a guessed address, port or PSN arrived to report it. */
    public long spoofingAlarms;

    /** Dropped: wrong partition key. */
    public long badPartitionKey;

    /** Dropped: a datagram with a wrong queue key. */
    public long badQueueKey;

    /** Dropped: opcode of another transport. */
    public long badOpcode;

    /** Dropped: not receivable in the queue pair's state. */
    public long badState;

    /** Requests that had already been executed. */
    public long duplicateRequests;

    /** Requests that arrived out of order: an earlier one is missing. */
    public long outOfSequenceRequests;

    /** Responses to no outstanding request, or with an implausible message sequence number. */
    public long unexpectedResponses;

    /** RNR NAKs received. */
    public long receivedRnrNaks;

    /** RNR NAKs sent. */
    public long sentRnrNaks;

    /** PSN sequence error NAKs received. */
    public long receivedSequenceErrors;

    /** PSN sequence error NAKs sent. */
    public long sentSequenceErrors;

    /** Responses that implied the loss of an earlier READ or atomic response. */
    public long impliedNaks;

    /** Acknowledgements omitted because a later one covers them. */
    public long coalescedAcks;

    /** Retransmitted request packets. */
    public long retransmittedPackets;

    /** Expiries of the retransmission timer. */
    public long timeouts;

    /** Tail-loss probes: packets retransmitted before the timeout because responses usually arrive sooner. */
    public long tailLossProbes;

    /** Keep-alive probes sent to idle peers. */
    public long idleProbes;

    /** Work requests, and idle connections, that failed because the peer did not respond. */
    public long retryExceededErrors;

    /** Work requests that failed because the peer had no receive posted. */
    public long rnrRetryExceededErrors;

    /** Packets with payload from the peer that met congestion on their way. */
    public long congestionMarks;

    /** Congestion notifications sent. */
    public long sentCongestionNotifications;

    /** Congestion notifications received. */
    public long receivedCongestionNotifications;

    /** Requests of the peer rejected because of an invalid key, range or access right. */
    public long keyViolations;

    /** Messages dropped by unreliable transports: a packet was missing, no receive was posted, or access was denied. */
    public long droppedMessages;

    /** Send work requests completed successfully. */
    public long completedSends;

    /** Receive work requests completed successfully. */
    public long completedReceives;

    /** Creates counters at zero. */
    public QueuePairCounters() {}

    /** Adds all counters of another queue pair. */
    public void add(QueuePairCounters other) {
        sentPackets += other.sentPackets;
        receivedPackets += other.receivedPackets;
        processedPackets += other.processedPackets;
        droppedPackets += other.droppedPackets;
        badSource += other.badSource;
        badSourcePort += other.badSourcePort;
        changedSourcePort += other.changedSourcePort;
        outOfWindowPsns += other.outOfWindowPsns;
        spoofingAlarms += other.spoofingAlarms;
        badPartitionKey += other.badPartitionKey;
        badQueueKey += other.badQueueKey;
        badOpcode += other.badOpcode;
        badState += other.badState;
        duplicateRequests += other.duplicateRequests;
        outOfSequenceRequests += other.outOfSequenceRequests;
        unexpectedResponses += other.unexpectedResponses;
        receivedRnrNaks += other.receivedRnrNaks;
        sentRnrNaks += other.sentRnrNaks;
        receivedSequenceErrors += other.receivedSequenceErrors;
        sentSequenceErrors += other.sentSequenceErrors;
        impliedNaks += other.impliedNaks;
        coalescedAcks += other.coalescedAcks;
        retransmittedPackets += other.retransmittedPackets;
        timeouts += other.timeouts;
        tailLossProbes += other.tailLossProbes;
        idleProbes += other.idleProbes;
        retryExceededErrors += other.retryExceededErrors;
        rnrRetryExceededErrors += other.rnrRetryExceededErrors;
        congestionMarks += other.congestionMarks;
        sentCongestionNotifications += other.sentCongestionNotifications;
        receivedCongestionNotifications += other.receivedCongestionNotifications;
        keyViolations += other.keyViolations;
        droppedMessages += other.droppedMessages;
        completedSends += other.completedSends;
        completedReceives += other.completedReceives;
    }
}
