package io.rdma4j.wire.cm;

import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * REP, reply to a request: the passive side accepts the connection. Source: InfiniBand Architecture volume 1, 12.6.8,
 * table 110.
 *
 * @param localCommunicationId the sender's ID of the connection, not 0
 * @param remoteCommunicationId the receiver's ID of the connection
 * @param localQueueKey queue key, 0 except for reliable datagrams
 * @param localQueuePair the sender's queue pair number, 24 bits
 * @param vendorId vendor of the connection enhancement options, 24 bits, 0 for none
 * @param enhancementOptions connection enhancement options as their vendor defines them, 0 for none; they are carried
 *     in the attribute modifier of the MAD header
 * @param localEndToEndContext the sender's queue pair number if it is the target of an extended reliable connection, 24
 *     bits; otherwise 0, except for reliable datagrams
 * @param startingPsn first PSN that the <em>receiver</em> of this message uses for sending, 24 bits
 * @param responderResources maximum number of incoming READs and atomics outstanding at the sender
 * @param initiatorDepth maximum number of READs and atomics that the sender has outstanding
 * @param targetAcknowledgeDelay maximum delay of the sender's acknowledgements: exponent of 5 bits, unit as
 *     {@link io.rdma4j.wire.Timers#acknowledgeTimeoutNanos}
 * @param failoverAccepted status of the alternate path, 2 bits: 0 accepted or none, 1 not supported, 2 rejected
 * @param endToEndFlowControl true if the sender's receive queue grants credits
 * @param rnrRetryCount receiver-not-ready retries of the receiver's queue pair, 0 to 7 (7: unlimited)
 * @param sharedReceiveQueue true if the sender's queue pair has a shared receive queue
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
    /** Length of the private data in bytes. */
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
     * @throws IllegalArgumentException if the private data are longer than {@link #PRIVATE_DATA_LENGTH}
     */
    public Rep {
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
    }

    /** Returns a builder of replies. */
    public static RepBuilder builder() {
        return new RepBuilder();
    }

    /** Returns a copy with enhancement options. */
    public Rep withEnhancement(int newVendorId, int newOptions) {
        return new RepBuilder(this).enhancement(newVendorId, newOptions).build();
    }

    /**
     * Returns a copy with the fields that the CM agent sets: the communication IDs, the failover status and the GUID.
     */
    public Rep identified(int localId, int remoteId, int failover, long caGuid) {
        return new RepBuilder(this)
                .communicationIds(localId, remoteId)
                .failoverAccepted(failover)
                .localCaGuid(caGuid)
                .build();
    }

    /**
     * Returns a copy for the target of an extended reliable connection (annex A14 of the specification). The queue pair
     * number moves to the end-to-end context, the shared receive queue bit is set, and the initiator depth is 0.
     */
    public Rep extended() {
        return new RepBuilder(this)
                .localQueuePair(0)
                .localEndToEndContext(localQueuePair)
                .initiatorDepth(0)
                .endToEndFlowControl(false)
                .sharedReceiveQueue(true)
                .build();
    }

    /**
     * Returns the sender's queue pair number, from the field that depends on the type of the request.
     *
     * @param request the request to which this is the reply
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
