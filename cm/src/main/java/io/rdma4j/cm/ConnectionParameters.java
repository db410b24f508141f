package io.rdma4j.cm;

import java.util.Arrays;

/**
 * Parameters of a connection: what {@link CmId#connect} and {@link CmId#accept} say to the peer, and what an event
 * brought from it. C: {@code struct rdma_conn_param}. Immutable.
 *
 * @param privateData the application's bytes; at most {@link #REQUEST_PRIVATE_DATA} to connect, {@link
 *     #REPLY_PRIVATE_DATA} to accept. In an event always all bytes of the message's field, zero padded
 * @param responderResources READs and atomics of the peer that this side serves at a time, 0 to 254, or {@link
 *     #DEVICE_MAXIMUM}; in an event: what the peer asks to have outstanding
 * @param initiatorDepth READs and atomics that this side has outstanding, 0 to 254, or {@link #DEVICE_MAXIMUM}; in an
 *     event: what the peer can serve
 * @param flowControl whether end-to-end flow control is available
 * @param retryCount retries of a request without any acknowledgement; more than 7 count as 7. Only the active side's
 *     counts, for both sides
 * @param rnrRetryCount retries when the receiver is not ready; more than 7 count as 7, and 7 is for ever. It is for the
 *     <em>peer's</em> queue pair
 * @param sharedReceiveQueue whether the queue pair uses a shared receive queue; ignored if the identifier has a queue pair
 * @param queuePairNumber the queue pair, 24 bits; ignored if the identifier has a queue pair of its own
 */
@SuppressWarnings("ArrayRecordComponent") // copied in and out, and compared by content
public record ConnectionParameters(
        byte[] privateData,
        int responderResources,
        int initiatorDepth,
        boolean flowControl,
        int retryCount,
        int rnrRetryCount,
        boolean sharedReceiveQueue,
        int queuePairNumber) {
    /** Depth that stands for the most that the device can. C: {@code RDMA_MAX_RESP_RES}, {@code RDMA_MAX_INIT_DEPTH}. */
    public static final int DEVICE_MAXIMUM = 0xff;

    /** Most bytes of private data of a connection request: the message's 92 less the 36 of the IP addressing header. */
    public static final int REQUEST_PRIVATE_DATA = 56;

    /** Most bytes of private data of an acceptance. */
    public static final int REPLY_PRIVATE_DATA = 196;

    /** Most bytes of private data of a rejection. */
    public static final int REJECT_PRIVATE_DATA = 148;

    /** No parameters: all zero, no private data. What events have that bring none. */
    public static final ConnectionParameters NONE = new ConnectionParameters(new byte[0], 0, 0, false, 0, 0, false, 0);

    /** Checks ranges and copies the private data. */
    public ConnectionParameters {
        privateData = privateData.clone();
        requireRange("responder resources", responderResources, 0xff);
        requireRange("initiator depth", initiatorDepth, 0xff);
        requireRange("retry count", retryCount, 0xff);
        requireRange("receiver-not-ready retry count", rnrRetryCount, 0xff);
        requireRange("queue pair number", queuePairNumber, 0xff_ffff);
    }

    private static void requireRange(String name, int value, int limit) {
        if (value < 0 || value > limit) {
            throw new IllegalArgumentException(name + " is " + value + ", must be 0 to " + limit);
        }
    }

    /** What null stands for at {@link CmId#connect}: the device's depths, 7 retries of both kinds, nothing else. */
    public static ConnectionParameters defaults() {
        return new ConnectionParameters(new byte[0], DEVICE_MAXIMUM, DEVICE_MAXIMUM, false, 7, 7, false, 0);
    }

    /** A copy of the private data. */
    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    /** Bytes of private data. */
    public int privateDataLength() {
        return privateData.length;
    }

    /** The same with other private data. */
    public ConnectionParameters withPrivateData(byte[] value) {
        return new ConnectionParameters(
                value,
                responderResources,
                initiatorDepth,
                flowControl,
                retryCount,
                rnrRetryCount,
                sharedReceiveQueue,
                queuePairNumber);
    }

    /** The same with other depths. */
    public ConnectionParameters withDepths(int newResponderResources, int newInitiatorDepth) {
        return new ConnectionParameters(
                privateData,
                newResponderResources,
                newInitiatorDepth,
                flowControl,
                retryCount,
                rnrRetryCount,
                sharedReceiveQueue,
                queuePairNumber);
    }

    /** The same with other retry counts. */
    public ConnectionParameters withRetries(int newRetryCount, int newRnrRetryCount) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                flowControl,
                newRetryCount,
                newRnrRetryCount,
                sharedReceiveQueue,
                queuePairNumber);
    }

    /** The same with or without end-to-end flow control. */
    public ConnectionParameters withFlowControl(boolean value) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                value,
                retryCount,
                rnrRetryCount,
                sharedReceiveQueue,
                queuePairNumber);
    }

    /** The same for another queue pair. */
    public ConnectionParameters withQueuePairNumber(int value) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                flowControl,
                retryCount,
                rnrRetryCount,
                sharedReceiveQueue,
                value);
    }

    /** The same with another word on whether the queue pair uses a shared receive queue. */
    public ConnectionParameters withSharedReceiveQueue(boolean value) {
        return new ConnectionParameters(
                privateData,
                responderResources,
                initiatorDepth,
                flowControl,
                retryCount,
                rnrRetryCount,
                value,
                queuePairNumber);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ConnectionParameters that
                && Arrays.equals(privateData, that.privateData)
                && responderResources == that.responderResources
                && initiatorDepth == that.initiatorDepth
                && flowControl == that.flowControl
                && retryCount == that.retryCount
                && rnrRetryCount == that.rnrRetryCount
                && sharedReceiveQueue == that.sharedReceiveQueue
                && queuePairNumber == that.queuePairNumber;
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(privateData) + queuePairNumber;
    }

    @Override
    public String toString() {
        return "responder resources %d, initiator depth %d, flow control %b, retries %d, RNR retries %d, queue pair 0x%06x, %d bytes of private data"
                .formatted(
                        responderResources,
                        initiatorDepth,
                        flowControl,
                        retryCount,
                        rnrRetryCount,
                        queuePairNumber,
                        privateData.length);
    }
}
