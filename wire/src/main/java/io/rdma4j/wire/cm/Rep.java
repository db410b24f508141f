package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * REP, reply to a request: the passive side accepts. Source: InfiniBand Architecture volume 1, 12.6.8, table 110.
 *
 * @param localCommunicationId the sender's number for the connection, not 0
 * @param remoteCommunicationId the receiver's number for the connection
 * @param localQueueKey queue key, 0 but for reliable datagrams
 * @param localQueuePair the sender's queue pair number, 24 bits
 * @param vendorId vendor of the connection enhancement options, 24 bits, 0 for none
 * @param enhancementOptions connection enhancement options as their vendor defines them, 0 for none; they go in the
 *     attribute modifier of the MAD's header
 * @param localEndToEndContext the sender's queue pair number if that is the target of an extended reliable connection,
 *     24 bits; 0 for all others but reliable datagrams
 * @param startingPsn first PSN that the <em>receiver</em> of this message is to send with, 24 bits
 * @param responderResources READs and atomics that the sender can have incoming at once
 * @param initiatorDepth READs and atomics that the sender will have outgoing at once
 * @param targetAcknowledgeDelay how long the sender's acknowledgements may take: exponent of 5 bits, unit as
 *     {@link io.rdma4j.wire.Timers#acknowledgeTimeoutNanos}
 * @param failoverAccepted what became of the alternate path, 2 bits: 0 accepted or none, 1 not supported, 2 rejected
 * @param endToEndFlowControl whether the sender's receive queue grants credits
 * @param rnrRetryCount receiver-not-ready retries of the receiver's queue pair, 0 to 7 (7: without end)
 * @param sharedReceiveQueue whether the sender's queue pair has a shared receive queue
 * @param localCaGuid GUID of the sender's channel adapter
 * @param privateData 196 bytes
 */
public record Rep(
        int localCommunicationId,
        int remoteCommunicationId,
        int localQueueKey,
        int localQueuePair,
        int vendorId,
        int enhancementOptions,
        int localEndToEndContext,
        int startingPsn,
        int responderResources,
        int initiatorDepth,
        int targetAcknowledgeDelay,
        int failoverAccepted,
        boolean endToEndFlowControl,
        int rnrRetryCount,
        boolean sharedReceiveQueue,
        long localCaGuid,
        PrivateData privateData)
        implements CmMessage {
    /** Bytes of private data. */
    public static final int PRIVATE_DATA_LENGTH = 196;

    private static final int LOCAL_ID = 0;
    private static final int REMOTE_ID = 4;
    private static final int LOCAL_QUEUE_KEY = 8;
    private static final int LOCAL_QUEUE_PAIR = 12;
    private static final int VENDOR_HIGH = 15;
    private static final int EE_CONTEXT = 16;
    private static final int VENDOR_MIDDLE = 19;
    private static final int STARTING_PSN = 20;
    private static final int VENDOR_LOW = 23;
    private static final int RESPONDER_RESOURCES = 24;
    private static final int INITIATOR_DEPTH = 25;
    /** Target acknowledge delay 7:3, failover accepted 2:1, end-to-end flow control 0. */
    private static final int DELAY_FAILOVER_FLOW = 26;

    /** RNR retry count 7:5, SRQ 4. */
    private static final int RNR_SRQ = 27;

    private static final int LOCAL_CA_GUID = 28;
    private static final int PRIVATE_DATA = 36;

    /**
     * Pads the private data.
     *
     * @throws IllegalArgumentException if there is more private data than the message has room for
     */
    public Rep {
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
    }

    /** A reply for a reliable or unreliable connection without alternate path and enhancement options. */
    public static Rep of(
            int localCommunicationId,
            int remoteCommunicationId,
            int localQueuePair,
            int startingPsn,
            int responderResources,
            int initiatorDepth,
            int targetAcknowledgeDelay,
            boolean endToEndFlowControl,
            int rnrRetryCount,
            boolean sharedReceiveQueue,
            long localCaGuid,
            PrivateData privateData) {
        return new Rep(
                localCommunicationId,
                remoteCommunicationId,
                0,
                localQueuePair,
                0,
                0,
                0,
                startingPsn,
                responderResources,
                initiatorDepth,
                targetAcknowledgeDelay,
                0,
                endToEndFlowControl,
                rnrRetryCount,
                sharedReceiveQueue,
                localCaGuid,
                privateData);
    }

    /** The same with enhancement options. */
    public Rep withEnhancement(int newVendorId, int newOptions) {
        return new Rep(
                localCommunicationId,
                remoteCommunicationId,
                localQueueKey,
                localQueuePair,
                newVendorId,
                newOptions,
                localEndToEndContext,
                startingPsn,
                responderResources,
                initiatorDepth,
                targetAcknowledgeDelay,
                failoverAccepted,
                endToEndFlowControl,
                rnrRetryCount,
                sharedReceiveQueue,
                localCaGuid,
                privateData);
    }

    /** The same as a connection's agent sends it: with both communication IDs, the answer about failover, and the GUID. */
    public Rep identified(int localId, int remoteId, int failover, long caGuid) {
        return new Rep(
                localId,
                remoteId,
                localQueueKey,
                localQueuePair,
                vendorId,
                enhancementOptions,
                localEndToEndContext,
                startingPsn,
                responderResources,
                initiatorDepth,
                targetAcknowledgeDelay,
                failover,
                endToEndFlowControl,
                rnrRetryCount,
                sharedReceiveQueue,
                caGuid,
                privateData);
    }

    /**
     * The same as the target of an extended reliable connection says it (annex A14 of the specification): its number is
     * where an end-to-end context would be, it has shared receive queues only, and starts nothing.
     */
    public Rep extended() {
        return new Rep(
                localCommunicationId,
                remoteCommunicationId,
                localQueueKey,
                0,
                vendorId,
                enhancementOptions,
                localQueuePair,
                startingPsn,
                responderResources,
                0,
                targetAcknowledgeDelay,
                failoverAccepted,
                false,
                rnrRetryCount,
                true,
                localCaGuid,
                privateData);
    }

    /**
     * The sender's queue pair number, from where a reply to that request has it.
     *
     * @param request what the message answers
     */
    public int queuePair(Req request) {
        return request.isExtended() ? localEndToEndContext : localQueuePair;
    }

    @Override
    public CmAttribute attribute() {
        return CmAttribute.REP;
    }

    @Override
    public int attributeModifier() {
        return enhancementOptions;
    }

    static Rep parse(MemorySegment s, long at, int attributeModifier) {
        int delay = Wire.u8(s, at + DELAY_FAILOVER_FLOW);
        int rnr = Wire.u8(s, at + RNR_SRQ);
        return new Rep(
                Wire.u32(s, at + LOCAL_ID),
                Wire.u32(s, at + REMOTE_ID),
                Wire.u32(s, at + LOCAL_QUEUE_KEY),
                Wire.u24(s, at + LOCAL_QUEUE_PAIR),
                Wire.u8(s, at + VENDOR_HIGH) << 16 | Wire.u8(s, at + VENDOR_MIDDLE) << 8 | Wire.u8(s, at + VENDOR_LOW),
                attributeModifier,
                Wire.u24(s, at + EE_CONTEXT),
                Wire.u24(s, at + STARTING_PSN),
                Wire.u8(s, at + RESPONDER_RESOURCES),
                Wire.u8(s, at + INITIATOR_DEPTH),
                delay >>> 3,
                delay >>> 1 & 3,
                (delay & 1) != 0,
                rnr >>> 5,
                (rnr & 0x10) != 0,
                Wire.u64(s, at + LOCAL_CA_GUID),
                PrivateData.read(s, at + PRIVATE_DATA, PRIVATE_DATA_LENGTH));
    }

    @Override
    public void emitBody(MemorySegment s, long at) {
        Wire.u32(s, at + LOCAL_ID, localCommunicationId);
        Wire.u32(s, at + REMOTE_ID, remoteCommunicationId);
        Wire.u32(s, at + LOCAL_QUEUE_KEY, localQueueKey);
        Wire.u24(s, at + LOCAL_QUEUE_PAIR, localQueuePair);
        Wire.u8(s, at + VENDOR_HIGH, vendorId >>> 16);
        Wire.u24(s, at + EE_CONTEXT, localEndToEndContext);
        Wire.u8(s, at + VENDOR_MIDDLE, vendorId >>> 8);
        Wire.u24(s, at + STARTING_PSN, startingPsn);
        Wire.u8(s, at + VENDOR_LOW, vendorId);
        Wire.u8(s, at + RESPONDER_RESOURCES, responderResources);
        Wire.u8(s, at + INITIATOR_DEPTH, initiatorDepth);
        Wire.u8(
                s,
                at + DELAY_FAILOVER_FLOW,
                targetAcknowledgeDelay << 3 | (failoverAccepted & 3) << 1 | (endToEndFlowControl ? 1 : 0));
        Wire.u8(s, at + RNR_SRQ, rnrRetryCount << 5 | (sharedReceiveQueue ? 0x10 : 0));
        Wire.u64(s, at + LOCAL_CA_GUID, localCaGuid);
        privateData.write(s, at + PRIVATE_DATA);
    }
}
