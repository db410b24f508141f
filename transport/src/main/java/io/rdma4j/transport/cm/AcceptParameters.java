package io.rdma4j.transport.cm;

/**
 * What a REP says apart from identifiers and private data, in the view of its sender, the passive side. The same record
 * is given to {@link CmConnection#accept} and handed to {@link CmEvents#onReply}.
 *
 * @param queuePairNumber the sender's queue pair, 24 bits
 * @param startingPsn first PSN that the <em>active</em> side sends, 24 bits
 * @param responderResources READ and atomic operations that the sender can serve at once, 0 to 255
 * @param initiatorDepth READ and atomic operations that the sender will have outstanding at most, 0 to 255
 * @param targetAckDelay exponent of the time that the sender may take to acknowledge, 0 to 31; rxe says 15
 * @param flowControl whether the sender does end-to-end flow control
 * @param rnrRetryCount receiver-not-ready retries of the <em>active</em> side's queue pair, 0 to 7
 * @param sharedReceiveQueue whether the sender's queue pair uses a shared receive queue
 */
public record AcceptParameters(
        int queuePairNumber,
        int startingPsn,
        int responderResources,
        int initiatorDepth,
        int targetAckDelay,
        boolean flowControl,
        int rnrRetryCount,
        boolean sharedReceiveQueue) {

    /** Bytes of private data in a REP. */
    public static final int PRIVATE_DATA_BYTES = 196;

    /** Target ACK delay that Linux rxe states. */
    public static final int DEFAULT_TARGET_ACK_DELAY = 15;

    /** Checks the ranges of all fields. */
    public AcceptParameters {
        ConnectParameters.Builder.checked("queue pair number", queuePairNumber, 0xff_ffff);
        ConnectParameters.Builder.checked("starting PSN", startingPsn, 0xff_ffff);
        ConnectParameters.Builder.checked("responder resources", responderResources, 0xff);
        ConnectParameters.Builder.checked("initiator depth", initiatorDepth, 0xff);
        ConnectParameters.Builder.checked("target ACK delay", targetAckDelay, 31);
        ConnectParameters.Builder.checked("RNR retry count", rnrRetryCount, 7);
    }
}
