package io.rdma4j.wire.cm;

import io.rdma4j.value.PathMtu;
import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * REQ, request for communication: the active side's first message. Source: InfiniBand Architecture volume 1, 12.6.5,
 * table 106. {@link #builder} starts with the values that Linux's rdma_cm sends.
 *
 * @param localCommunicationId the sender's ID of the connection, not 0
 * @param vendorId vendor of the connection enhancement options, 24 bits, 0 for none
 * @param enhancementOptions connection enhancement options as their vendor defines them, 0 for none; they are carried
 *     in the attribute modifier of the MAD header
 * @param serviceId requested service, see {@link ServiceId}
 * @param localCaGuid GUID of the sender's channel adapter; with the queue pair number it identifies stale connections
 * @param localQueueKey queue key, 0 except for reliable datagrams
 * @param localQueuePair the sender's queue pair number, 24 bits
 * @param responderResources maximum number of incoming READs and atomics outstanding at the sender
 * @param localEndToEndContext reliable datagrams only, 24 bits
 * @param initiatorDepth requested maximum number of READs and atomics that the sender has outstanding
 * @param remoteEndToEndContext reliable datagrams only, 24 bits
 * @param remoteResponseTimeout time within which the receiver must reply: exponent of 5 bits, see
 *     {@link io.rdma4j.wire.Timers#cmTimeoutNanos}
 * @param transportType {@link #TRANSPORT_RC}, {@link #TRANSPORT_UC}, {@link #TRANSPORT_RD} or
 *     {@link #TRANSPORT_EXTENDED}
 * @param endToEndFlowControl true if the sender's receive queue grants credits
 * @param startingPsn first PSN that the <em>receiver</em> of this message uses for sending, 24 bits
 * @param localResponseTimeout time within which the sender replies: exponent of 5 bits
 * @param retryCount retries of both queue pairs, 0 to 7
 * @param partitionKey partition key
 * @param pathMtu number of a {@link PathMtu}; 4 bits, reserved ones are kept
 * @param rdcExists reliable datagrams only
 * @param rnrRetryCount receiver-not-ready retries of the receiver's queue pair, 0 to 7 (7: unlimited)
 * @param maxCmRetries maximum number of retransmissions of the receiver's REP, 0 to 15
 * @param sharedReceiveQueue true if the sender's queue pair has a shared receive queue
 * @param extendedTransportType 3 bits, 1 for XRC if the transport type is extended
 * @param primaryPath the primary path
 * @param alternatePath path for migration; {@link CmPath#NONE} for none
 * @param alternateServiceAccessPoint the bit after the timeout of the alternate path (SAP)
 * @param privateData 92 bytes; rdma_cm puts an {@link IpCmHeader} first
 */
public record Req(
        int localCommunicationId,
        int vendorId,
        int enhancementOptions,
        long serviceId,
        long localCaGuid,
        int localQueueKey,
        int localQueuePair,
        int responderResources,
        int localEndToEndContext,
        int initiatorDepth,
        int remoteEndToEndContext,
        int remoteResponseTimeout,
        int transportType,
        boolean endToEndFlowControl,
        int startingPsn,
        int localResponseTimeout,
        int retryCount,
        int partitionKey,
        int pathMtu,
        boolean rdcExists,
        int rnrRetryCount,
        int maxCmRetries,
        boolean sharedReceiveQueue,
        int extendedTransportType,
        CmPath primaryPath,
        CmPath alternatePath,
        boolean alternateServiceAccessPoint,
        PrivateData privateData)
        implements CmMessage {
    /** Length of the private data in bytes. */
    public static final int PRIVATE_DATA_LENGTH = 92;

    /** Length of the private data available to an application after rdma_cm's header, in bytes. */
    public static final int USER_PRIVATE_DATA_LENGTH = PRIVATE_DATA_LENGTH - IpCmHeader.LENGTH;

    /** Reliable connection. */
    public static final int TRANSPORT_RC = 0;

    /** Unreliable connection. */
    public static final int TRANSPORT_UC = 1;

    /** Reliable datagram. */
    public static final int TRANSPORT_RD = 2;

    /** Another transport, given by the extended transport type. */
    public static final int TRANSPORT_EXTENDED = 3;

    /** Extended reliable connection: the only extended transport type defined. */
    public static final int EXTENDED_XRC = 1;

    private static final int LOCAL_ID = 0;
    private static final int VENDOR_ID = 5;
    private static final int SERVICE_ID = 8;
    private static final int LOCAL_CA_GUID = 16;
    private static final int LOCAL_QUEUE_KEY = 28;
    private static final int LOCAL_QUEUE_PAIR = 32;
    private static final int RESPONDER_RESOURCES = 35;
    private static final int LOCAL_EE_CONTEXT = 36;
    private static final int INITIATOR_DEPTH = 39;
    private static final int REMOTE_EE_CONTEXT = 40;
    /** Remote response timeout 7:3, transport type 2:1, end-to-end flow control 0. */
    private static final int REMOTE_TIMEOUT_TRANSPORT_FLOW = 43;

    private static final int STARTING_PSN = 44;
    /** Local response timeout 7:3, retry count 2:0. */
    private static final int LOCAL_TIMEOUT_RETRY = 47;

    private static final int PARTITION_KEY = 48;
    /** Path MTU 7:4, RDC exists 3, RNR retry count 2:0. */
    private static final int MTU_RDC_RNR = 50;

    /** Max CM retries 7:4, SRQ 3, extended transport type 2:0. */
    private static final int RETRIES_SRQ_TYPE = 51;

    private static final int PRIMARY_PATH = 52;
    private static final int ALTERNATE_PATH = 96;
    private static final int ALTERNATE_LAST = ALTERNATE_PATH + CmPath.LENGTH - 1;
    private static final int SAP = 4;
    private static final int PRIVATE_DATA = 140;

    /**
     * Pads the private data. An empty alternate path is replaced by the shared {@link CmPath#NONE}, because requests
     * are kept as long as their connections.
     *
     * @throws IllegalArgumentException if the private data are longer than {@link #PRIVATE_DATA_LENGTH}
     */
    public Req {
        privateData = privateData.padded(PRIVATE_DATA_LENGTH);
        alternatePath = alternatePath.equals(CmPath.NONE) ? CmPath.NONE : alternatePath;
    }

    /** Creates a builder with the values that Linux's rdma_cm sends if the application does not set them. */
    public static ReqBuilder builder() {
        return new ReqBuilder();
    }

    /** Returns whether this requests an extended reliable connection with the sender as its initiator. */
    public boolean isExtended() {
        return transportType == TRANSPORT_EXTENDED && extendedTransportType == EXTENDED_XRC;
    }

    /** Returns whether the message has an alternate path, that is, one with a nonzero local LID, as in Linux. */
    public boolean hasAlternatePath() {
        return alternatePath.localLid() != 0;
    }

    @Override
    public CmAttribute attribute() {
        return CmAttribute.REQ;
    }

    @Override
    public int attributeModifier() {
        return enhancementOptions;
    }

    static Req parse(MemorySegment s, long at, int attributeModifier) {
        int transport = Wire.u8(s, at + REMOTE_TIMEOUT_TRANSPORT_FLOW);
        int local = Wire.u8(s, at + LOCAL_TIMEOUT_RETRY);
        int mtu = Wire.u8(s, at + MTU_RDC_RNR);
        int retries = Wire.u8(s, at + RETRIES_SRQ_TYPE);
        return new Req(
                Wire.u32(s, at + LOCAL_ID),
                Wire.u24(s, at + VENDOR_ID),
                attributeModifier,
                Wire.u64(s, at + SERVICE_ID),
                Wire.u64(s, at + LOCAL_CA_GUID),
                Wire.u32(s, at + LOCAL_QUEUE_KEY),
                Wire.u24(s, at + LOCAL_QUEUE_PAIR),
                Wire.u8(s, at + RESPONDER_RESOURCES),
                Wire.u24(s, at + LOCAL_EE_CONTEXT),
                Wire.u8(s, at + INITIATOR_DEPTH),
                Wire.u24(s, at + REMOTE_EE_CONTEXT),
                transport >>> 3,
                transport >>> 1 & 3,
                (transport & 1) != 0,
                Wire.u24(s, at + STARTING_PSN),
                local >>> 3,
                local & 7,
                Wire.u16(s, at + PARTITION_KEY),
                mtu >>> 4,
                (mtu & 8) != 0,
                mtu & 7,
                retries >>> 4,
                (retries & 8) != 0,
                retries & 7,
                CmPath.parseReq(s, at + PRIMARY_PATH),
                CmPath.parseReq(s, at + ALTERNATE_PATH),
                (Wire.u8(s, at + ALTERNATE_LAST) & SAP) != 0,
                PrivateData.read(s, at + PRIVATE_DATA, PRIVATE_DATA_LENGTH));
    }

    @Override
    public void emitBody(MemorySegment s, long at) {
        s.asSlice(at, PRIMARY_PATH).fill((byte) 0);
        Wire.u32(s, at + LOCAL_ID, localCommunicationId);
        Wire.u24(s, at + VENDOR_ID, vendorId);
        Wire.u64(s, at + SERVICE_ID, serviceId);
        Wire.u64(s, at + LOCAL_CA_GUID, localCaGuid);
        Wire.u32(s, at + LOCAL_QUEUE_KEY, localQueueKey);
        Wire.u24(s, at + LOCAL_QUEUE_PAIR, localQueuePair);
        Wire.u8(s, at + RESPONDER_RESOURCES, responderResources);
        Wire.u24(s, at + LOCAL_EE_CONTEXT, localEndToEndContext);
        Wire.u8(s, at + INITIATOR_DEPTH, initiatorDepth);
        Wire.u24(s, at + REMOTE_EE_CONTEXT, remoteEndToEndContext);
        Wire.u8(
                s,
                at + REMOTE_TIMEOUT_TRANSPORT_FLOW,
                remoteResponseTimeout << 3 | (transportType & 3) << 1 | (endToEndFlowControl ? 1 : 0));
        Wire.u24(s, at + STARTING_PSN, startingPsn);
        Wire.u8(s, at + LOCAL_TIMEOUT_RETRY, localResponseTimeout << 3 | retryCount & 7);
        Wire.u16(s, at + PARTITION_KEY, partitionKey);
        Wire.u8(s, at + MTU_RDC_RNR, pathMtu << 4 | (rdcExists ? 8 : 0) | rnrRetryCount & 7);
        Wire.u8(s, at + RETRIES_SRQ_TYPE, maxCmRetries << 4 | (sharedReceiveQueue ? 8 : 0) | extendedTransportType & 7);
        primaryPath.emitReq(s, at + PRIMARY_PATH);
        alternatePath.emitReq(s, at + ALTERNATE_PATH);
        if (alternateServiceAccessPoint) {
            Wire.u8(s, at + ALTERNATE_LAST, Wire.u8(s, at + ALTERNATE_LAST) | SAP);
        }
        privateData.write(s, at + PRIVATE_DATA);
    }
}
