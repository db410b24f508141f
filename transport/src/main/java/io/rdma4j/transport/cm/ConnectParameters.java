package io.rdma4j.transport.cm;

/**
 * What a REQ says apart from its addresses, identifiers and private data, in the view of its sender: "local" is the
 * active side. The same record is given to {@link CmAgent#connect} and handed to a {@link CmListener}.
 *
 * @param serviceId 64-bit service ID
 * @param caGuid GUID of the sender's CA; ignored by {@link CmAgent#connect}, which knows its own
 * @param queuePairNumber the sender's queue pair, 24 bits
 * @param startingPsn first PSN that the <em>passive</em> side sends, 24 bits
 * @param responderResources READ and atomic operations that the sender can serve at once, 0 to 255
 * @param initiatorDepth READ and atomic operations that the sender wants to have outstanding, 0 to 255
 * @param flowControl whether end-to-end flow control is wanted
 * @param retryCount retries of the passive side's queue pair and of the active one's, 0 to 7
 * @param rnrRetryCount retries after receiver-not-ready of the passive side's queue pair, 0 to 7 (7 = endless)
 * @param sharedReceiveQueue whether the sender's queue pair uses a shared receive queue
 * @param transportType 0 RC, 1 UC, 2 RD, 3 extended
 * @param partitionKey P_Key, 16 bits
 * @param pathMtuCode 1 = 256 to 5 = 4096 bytes; as received it is not checked
 * @param trafficClass IPv4 type of service or IPv6 traffic class of the path
 * @param flowLabel 20 bits
 * @param hopLimit hop limit of the path
 * @param localAckTimeout exponent t of the ACK timeout 4.096 µs·2<sup>t</sup> for the passive side's queue pair; Linux:
 *     packet life time + 1
 * @param remoteResponseTimeout exponent of the time in which the passive side is to answer the REQ
 * @param localResponseTimeout exponent of the time in which the sender will answer the REP
 * @param maxCmRetries retries of the passive side's REP and of the active side's REQ, 0 to 15
 */
public record ConnectParameters(
        long serviceId,
        long caGuid,
        int queuePairNumber,
        int startingPsn,
        int responderResources,
        int initiatorDepth,
        boolean flowControl,
        int retryCount,
        int rnrRetryCount,
        boolean sharedReceiveQueue,
        int transportType,
        int partitionKey,
        int pathMtuCode,
        int trafficClass,
        int flowLabel,
        int hopLimit,
        int localAckTimeout,
        int remoteResponseTimeout,
        int localResponseTimeout,
        int maxCmRetries) {

    /** Bytes of private data in a REQ; the IP-CM header of rdma_cm is part of them. */
    public static final int PRIVATE_DATA_BYTES = 92;

    /** Starts from what Linux's rdma_cm sends over RoCE. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects parameters; a value out of its field's range is refused by {@link #build}. */
    public static final class Builder {
        private long serviceId;
        private int queuePairNumber;
        private int startingPsn;
        private int responderResources;
        private int initiatorDepth;
        private boolean flowControl;
        private int retryCount = 7;
        private int rnrRetryCount = 7;
        private boolean sharedReceiveQueue;
        private int transportType;
        private int partitionKey = 0xffff;
        private int pathMtuCode = 3;
        private int trafficClass;
        private int flowLabel;
        private int hopLimit = 64;
        private int localAckTimeout = 19;
        private int remoteResponseTimeout = 20;
        private int localResponseTimeout = 20;
        private int maxCmRetries = 15;

        private Builder() {}

        /** 64-bit service ID. */
        public Builder serviceId(long value) {
            serviceId = value;
            return this;
        }

        /** Our queue pair's number, 24 bits. */
        public Builder queuePairNumber(int value) {
            queuePairNumber = checked("queue pair number", value, 0xff_ffff);
            return this;
        }

        /** First PSN that the passive side is to send, 24 bits. */
        public Builder startingPsn(int value) {
            startingPsn = checked("starting PSN", value, 0xff_ffff);
            return this;
        }

        /** READ and atomic operations that we can serve at once, 0 to 255. */
        public Builder responderResources(int value) {
            responderResources = checked("responder resources", value, 0xff);
            return this;
        }

        /** READ and atomic operations that we want to have outstanding, 0 to 255. */
        public Builder initiatorDepth(int value) {
            initiatorDepth = checked("initiator depth", value, 0xff);
            return this;
        }

        /** Whether end-to-end flow control is wanted. */
        public Builder flowControl(boolean value) {
            flowControl = value;
            return this;
        }

        /** Retries of both queue pairs, 0 to 7. */
        public Builder retryCount(int value) {
            retryCount = checked("retry count", value, 7);
            return this;
        }

        /** Receiver-not-ready retries of the passive side's queue pair, 0 to 7. */
        public Builder rnrRetryCount(int value) {
            rnrRetryCount = checked("RNR retry count", value, 7);
            return this;
        }

        /** Whether our queue pair uses a shared receive queue. */
        public Builder sharedReceiveQueue(boolean value) {
            sharedReceiveQueue = value;
            return this;
        }

        /** 0 RC, 1 UC, 2 RD, 3 extended. */
        public Builder transportType(int value) {
            transportType = checked("transport type", value, 3);
            return this;
        }

        /** P_Key, 16 bits. */
        public Builder partitionKey(int value) {
            partitionKey = checked("P_Key", value, 0xffff);
            return this;
        }

        /** Path MTU code, 1 = 256 to 5 = 4096 bytes. */
        public Builder pathMtuCode(int value) {
            pathMtuCode = checked("path MTU code", value, 15);
            return this;
        }

        /** IPv4 type of service or IPv6 traffic class. */
        public Builder trafficClass(int value) {
            trafficClass = checked("traffic class", value, 0xff);
            return this;
        }

        /** Flow label, 20 bits. */
        public Builder flowLabel(int value) {
            flowLabel = checked("flow label", value, 0xf_ffff);
            return this;
        }

        /** Hop limit of the path. */
        public Builder hopLimit(int value) {
            hopLimit = checked("hop limit", value, 0xff);
            return this;
        }

        /** Exponent of the ACK timeout for the passive side's queue pair, 0 to 31. */
        public Builder localAckTimeout(int value) {
            localAckTimeout = checked("local ACK timeout", value, 31);
            return this;
        }

        /** Exponent of the time in which the passive side is to answer the REQ, 0 to 31. */
        public Builder remoteResponseTimeout(int value) {
            remoteResponseTimeout = checked("remote CM response timeout", value, 31);
            return this;
        }

        /** Exponent of the time in which we answer the REP, 0 to 31. */
        public Builder localResponseTimeout(int value) {
            localResponseTimeout = checked("local CM response timeout", value, 31);
            return this;
        }

        /** Retries of the REQ and of the peer's REP, 0 to 15. */
        public Builder maxCmRetries(int value) {
            maxCmRetries = checked("CM retries", value, 15);
            return this;
        }

        /** The parameters collected so far. */
        public ConnectParameters build() {
            return new ConnectParameters(
                    serviceId,
                    0,
                    queuePairNumber,
                    startingPsn,
                    responderResources,
                    initiatorDepth,
                    flowControl,
                    retryCount,
                    rnrRetryCount,
                    sharedReceiveQueue,
                    transportType,
                    partitionKey,
                    pathMtuCode,
                    trafficClass,
                    flowLabel,
                    hopLimit,
                    localAckTimeout,
                    remoteResponseTimeout,
                    localResponseTimeout,
                    maxCmRetries);
        }

        static int checked(String name, int value, int limit) {
            if (value < 0 || value > limit) {
                throw new IllegalArgumentException(name + " is " + value + ", must be 0 to " + limit);
            }
            return value;
        }
    }
}
