package io.rdma4j.transport;

/**
 * What happened to one queue pair, counted since its creation. Plain fields, written by the thread that drives the queue
 * pair; other threads may read them and see values that are a little old. The names follow the {@code hw_counters} of
 * Linux rdma_rxe where it has the same.
 */
public final class QueuePairCounters {
    /** Packets written by {@link QueuePairMachine#pollTransmit}. */
    public long sentPackets;

    /** Packets given to {@link QueuePairMachine#onPacket}; each of them is also in exactly one of processed or dropped. */
    public long receivedPackets;

    /** Received packets that had an effect or an answer. */
    public long processedPackets;

    /** Received packets that were dropped for any reason; the reasons below say why. */
    public long droppedPackets;

    /** Dropped: not from the peer, or not to the address of this queue pair. */
    public long badSource;

    /** Dropped: from the peer's address, but not from its UDP port ({@link SourcePortCheck#ENFORCE}). */
    public long badSourcePort;

    /** Times that the peer's UDP port was another than before ({@link SourcePortCheck#COUNT}); these packets were taken. */
    public long changedSourcePort;

    /** Packets with a PSN that is far from any that is due or was lately, as only one that somebody guesses is. */
    public long farPsns;

    /** Seconds in which so many packets came with a PSN or UDP port that was guessed that it was reported. */
    public long guessingAlarms;

    /** Dropped: wrong partition key. */
    public long badPartitionKey;

    /** Dropped: a datagram with a wrong queue key. */
    public long badQueueKey;

    /** Dropped: the operation is of another transport. */
    public long badOpcode;

    /** Dropped: the queue pair's state does not allow it to receive this. */
    public long badState;

    /** Requests that had been executed before. */
    public long duplicateRequests;

    /** Requests that came too early: something before them is missing. */
    public long outOfSequenceRequests;

    /** Responses that answer nothing outstanding, or whose message sequence number cannot be. */
    public long ghostResponses;

    /** Receiver-not-ready answers received. */
    public long receivedRnrNaks;

    /** Receiver-not-ready answers sent. */
    public long sentRnrNaks;

    /** Sequence errors reported by the peer. */
    public long receivedSequenceErrors;

    /** Sequence errors reported to the peer. */
    public long sentSequenceErrors;

    /** Answers that showed the loss of an earlier READ or atomic answer. */
    public long impliedNaks;

    /** Acknowledgements left out because a later one covers them. */
    public long coalescedAcks;

    /** Request packets sent more than once. */
    public long retransmittedPackets;

    /** Retransmission timer expiries. */
    public long timeouts;

    /** Times that packets were sent again early, because answers usually come sooner. */
    public long earlyRepetitions;

    /** Questions to an idle peer whether it is there. */
    public long idleProbes;

    /** Work requests given up because the peer did not answer. */
    public long retryExceededErrors;

    /** Work requests given up because the peer had no receive posted. */
    public long rnrRetryExceededErrors;

    /** Requests of the peer refused because of key, range or rights. */
    public long keyViolations;

    /** Unreliable transports: messages lost, since a packet was missing, or no receive or no right was there for them. */
    public long droppedMessages;

    /** Send work requests completed with success. */
    public long completedSends;

    /** Receive work requests completed with success. */
    public long completedReceives;

    /** Creates counters at zero. */
    public QueuePairCounters() {}
}
