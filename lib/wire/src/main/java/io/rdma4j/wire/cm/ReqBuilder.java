package io.rdma4j.wire.cm;

import io.rdma4j.value.PathMtu;

/**
 * A builder of {@link Req} messages. The initial values are those that Linux's rdma_cm sends if the application does
 * not set them: response timeouts of 4 s, 15 CM retries, reliable connection, default partition, path MTU 1024, 7
 * retries, no alternate path, no private data. Each method sets the value that {@link Req} documents under its name.
 * Not thread safe.
 */
public final class ReqBuilder {
    private static final int RESPONSE_TIMEOUT = 20;
    private static final int CM_RETRIES = 15;
    private static final int DEFAULT_PARTITION_KEY = 0xffff;
    private static final int MAX_RETRIES = 7;

    private int localCommunicationId;
    private int vendorId;
    private int enhancementOptions;
    private long serviceId;
    private long localCaGuid;
    private int localQueuePair;
    private int responderResources;
    private int initiatorDepth;
    private int remoteResponseTimeout = RESPONSE_TIMEOUT;
    private int transportType = Req.TRANSPORT_RC;
    private boolean endToEndFlowControl;
    private int startingPsn;
    private int localResponseTimeout = RESPONSE_TIMEOUT;
    private int retryCount = MAX_RETRIES;
    private int partitionKey = DEFAULT_PARTITION_KEY;
    private int pathMtu = PathMtu.MTU_1024.code();
    private int rnrRetryCount = MAX_RETRIES;
    private int maxCmRetries = CM_RETRIES;
    private boolean sharedReceiveQueue;
    private int extendedTransportType;
    private CmPath primaryPath = CmPath.NONE;
    private CmPath alternatePath = CmPath.NONE;
    private PrivateData privateData = PrivateData.EMPTY;

    ReqBuilder() {}

    /** Sets the sender's ID of the connection. */
    public ReqBuilder localCommunicationId(int value) {
        localCommunicationId = value;
        return this;
    }

    /** Sets the connection enhancement options and their vendor, 24 bits. */
    public ReqBuilder enhancement(int vendor, int options) {
        vendorId = vendor;
        enhancementOptions = options;
        return this;
    }

    /** Sets the requested service. */
    public ReqBuilder serviceId(long value) {
        serviceId = value;
        return this;
    }

    /** Sets the GUID of the sender's channel adapter. */
    public ReqBuilder localCaGuid(long value) {
        localCaGuid = value;
        return this;
    }

    /** Sets the sender's queue pair number, 24 bits. */
    public ReqBuilder localQueuePair(int value) {
        localQueuePair = value;
        return this;
    }

    /** Sets the maximum number of incoming READs and atomics outstanding at the sender, 0 to 255. */
    public ReqBuilder responderResources(int value) {
        responderResources = value;
        return this;
    }

    /** Sets the requested maximum number of READs and atomics that the sender has outstanding, 0 to 255. */
    public ReqBuilder initiatorDepth(int value) {
        initiatorDepth = value;
        return this;
    }

    /** Sets the time within which the receiver must reply, an exponent of 5 bits. */
    public ReqBuilder remoteResponseTimeout(int value) {
        remoteResponseTimeout = value;
        return this;
    }

    /** Sets the transport. */
    public ReqBuilder transportType(int value) {
        transportType = value;
        return this;
    }

    /** Sets whether the sender's receive queue grants credits. */
    public ReqBuilder endToEndFlowControl(boolean value) {
        endToEndFlowControl = value;
        return this;
    }

    /** Sets the first PSN that the receiver of the message uses for sending. */
    public ReqBuilder startingPsn(int value) {
        startingPsn = value;
        return this;
    }

    /** Sets the time within which the sender replies, an exponent of 5 bits. */
    public ReqBuilder localResponseTimeout(int value) {
        localResponseTimeout = value;
        return this;
    }

    /** Sets the retries of both queue pairs, 0 to 7. */
    public ReqBuilder retryCount(int value) {
        retryCount = value;
        return this;
    }

    /** Sets the partition key. */
    public ReqBuilder partitionKey(int value) {
        partitionKey = value;
        return this;
    }

    /** Sets the path MTU code, 1 to 5. */
    public ReqBuilder pathMtu(int value) {
        pathMtu = value;
        return this;
    }

    /** Sets the receiver-not-ready retries of the receiver's queue pair, 0 to 7. */
    public ReqBuilder rnrRetryCount(int value) {
        rnrRetryCount = value;
        return this;
    }

    /** Sets the maximum number of retransmissions of the receiver's REP, 0 to 15. */
    public ReqBuilder maxCmRetries(int value) {
        maxCmRetries = value;
        return this;
    }

    /** Sets whether the sender's queue pair has a shared receive queue. */
    public ReqBuilder sharedReceiveQueue(boolean value) {
        sharedReceiveQueue = value;
        return this;
    }

    /** Sets the extended transport type, 3 bits. */
    public ReqBuilder extendedTransportType(int value) {
        extendedTransportType = value;
        return this;
    }

    /**
     * Requests an extended reliable connection (annex A14 of the specification), with the sender as its initiator. An
     * initiator has no receives and no responder. As in Linux, the responder resources, the retries and the shared
     * receive queue are therefore 0.
     */
    public ReqBuilder extended() {
        return transportType(Req.TRANSPORT_EXTENDED)
                .extendedTransportType(Req.EXTENDED_XRC)
                .responderResources(0)
                .retryCount(0)
                .rnrRetryCount(0)
                .sharedReceiveQueue(false);
    }

    /** Sets the primary path. */
    public ReqBuilder primaryPath(CmPath value) {
        primaryPath = value;
        return this;
    }

    /** Sets the path for migration. */
    public ReqBuilder alternatePath(CmPath value) {
        alternatePath = value;
        return this;
    }

    /** Sets the private data, at most 92 bytes. */
    public ReqBuilder privateData(PrivateData value) {
        privateData = value;
        return this;
    }

    /**
     * Builds the message.
     *
     * @throws IllegalArgumentException if the private data are longer than {@link Req#PRIVATE_DATA_LENGTH}
     */
    public Req build() {
        return new Req(
                localCommunicationId,
                vendorId,
                enhancementOptions,
                serviceId,
                localCaGuid,
                0,
                localQueuePair,
                responderResources,
                0,
                initiatorDepth,
                0,
                remoteResponseTimeout,
                transportType,
                endToEndFlowControl,
                startingPsn,
                localResponseTimeout,
                retryCount,
                partitionKey,
                pathMtu,
                false,
                rnrRetryCount,
                maxCmRetries,
                sharedReceiveQueue,
                extendedTransportType,
                primaryPath,
                alternatePath,
                false,
                privateData);
    }
}
