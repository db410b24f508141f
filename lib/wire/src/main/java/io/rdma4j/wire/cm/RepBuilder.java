package io.rdma4j.wire.cm;

/**
 * A builder of {@link Rep} messages. The initial values are 7 receiver-not-ready retries, which Linux's rdma_cm sends if the
 * application does not set them, no private data, and 0 or false. Each method sets the value that {@link Rep} documents
 * under its name. Not thread safe.
 */
public final class RepBuilder {
    private static final int MAX_RETRIES = 7;

    private int localCommunicationId;
    private int remoteCommunicationId;
    private int localQueueKey;
    private int localQueuePair;
    private int vendorId;
    private int enhancementOptions;
    private int localEndToEndContext;
    private int startingPsn;
    private int responderResources;
    private int initiatorDepth;
    private int targetAcknowledgeDelay;
    private int failoverAccepted;
    private boolean endToEndFlowControl;
    private int rnrRetryCount = MAX_RETRIES;
    private boolean sharedReceiveQueue;
    private long localCaGuid;
    private PrivateData privateData = PrivateData.EMPTY;

    RepBuilder() {}

    /** Starts with the values of a message. */
    RepBuilder(Rep rep) {
        localCommunicationId = rep.localCommunicationId();
        remoteCommunicationId = rep.remoteCommunicationId();
        localQueueKey = rep.localQueueKey();
        localQueuePair = rep.localQueuePair();
        vendorId = rep.vendorId();
        enhancementOptions = rep.enhancementOptions();
        localEndToEndContext = rep.localEndToEndContext();
        startingPsn = rep.startingPsn();
        responderResources = rep.responderResources();
        initiatorDepth = rep.initiatorDepth();
        targetAcknowledgeDelay = rep.targetAcknowledgeDelay();
        failoverAccepted = rep.failoverAccepted();
        endToEndFlowControl = rep.endToEndFlowControl();
        rnrRetryCount = rep.rnrRetryCount();
        sharedReceiveQueue = rep.sharedReceiveQueue();
        localCaGuid = rep.localCaGuid();
        privateData = rep.privateData();
    }

    /** Sets the communication IDs of the sender, not 0, and of the receiver. */
    public RepBuilder communicationIds(int local, int remote) {
        localCommunicationId = local;
        remoteCommunicationId = remote;
        return this;
    }

    /** Sets the sender's queue pair number, 24 bits. */
    public RepBuilder localQueuePair(int value) {
        localQueuePair = value;
        return this;
    }

    /** Sets the connection enhancement options and their vendor, 24 bits. */
    public RepBuilder enhancement(int vendor, int options) {
        vendorId = vendor;
        enhancementOptions = options;
        return this;
    }

    /** Sets the end-to-end context, 24 bits. */
    RepBuilder localEndToEndContext(int value) {
        localEndToEndContext = value;
        return this;
    }

    /** Sets the first PSN that the receiver uses for sending, 24 bits. */
    public RepBuilder startingPsn(int value) {
        startingPsn = value;
        return this;
    }

    /** Sets the maximum number of incoming READs and atomics outstanding at the sender. */
    public RepBuilder responderResources(int value) {
        responderResources = value;
        return this;
    }

    /** Sets the maximum number of READs and atomics that the sender has outstanding. */
    public RepBuilder initiatorDepth(int value) {
        initiatorDepth = value;
        return this;
    }

    /** Sets the maximum delay of the sender's acknowledgements, an exponent of 5 bits. */
    public RepBuilder targetAcknowledgeDelay(int value) {
        targetAcknowledgeDelay = value;
        return this;
    }

    /** Sets the status of the alternate path, 2 bits. */
    RepBuilder failoverAccepted(int value) {
        failoverAccepted = value;
        return this;
    }

    /** Sets whether the sender's receive queue grants credits. */
    public RepBuilder endToEndFlowControl(boolean value) {
        endToEndFlowControl = value;
        return this;
    }

    /** Sets the receiver-not-ready retries of the receiver's queue pair, 0 to 7. */
    public RepBuilder rnrRetryCount(int value) {
        rnrRetryCount = value;
        return this;
    }

    /** Sets whether the sender's queue pair has a shared receive queue. */
    public RepBuilder sharedReceiveQueue(boolean value) {
        sharedReceiveQueue = value;
        return this;
    }

    /** Sets the GUID of the sender's channel adapter. */
    public RepBuilder localCaGuid(long value) {
        localCaGuid = value;
        return this;
    }

    /** Sets the private data, at most {@link Rep#PRIVATE_DATA_LENGTH} bytes. */
    public RepBuilder privateData(PrivateData value) {
        privateData = value;
        return this;
    }

    /**
     * Builds the message.
     *
     * @throws IllegalArgumentException if the private data are longer than {@link Rep#PRIVATE_DATA_LENGTH}
     */
    public Rep build() {
        return new Rep(
                localCommunicationId,
                remoteCommunicationId,
                localQueueKey,
                localQueuePair,
                vendorId,
                enhancementOptions,
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
}
