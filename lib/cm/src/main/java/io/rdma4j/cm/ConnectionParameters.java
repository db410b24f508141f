package io.rdma4j.cm;

import java.util.Arrays;

/**
 * The parameters of a connection. {@link CmId#connect} and {@link CmId#accept} send them to the peer, and events carry
 * the peer's parameters. C: {@code struct rdma_conn_param}. Immutable.
 *
 * @param privateData the application's bytes; at most {@link #REQUEST_PRIVATE_DATA} to connect, {@link
 *     #REPLY_PRIVATE_DATA} to accept. In an event, always the message's whole field, zero-padded
 * @param responderResources number of the peer's READs and atomics that this side serves concurrently, 0 to 254, or
 *     {@link #DEVICE_MAXIMUM}; in an event, the number that the peer requests to have outstanding
 * @param initiatorDepth number of READs and atomics that this side has outstanding, 0 to 254, or {@link
 *     #DEVICE_MAXIMUM}; in an event, the number that the peer can serve
 * @param flowControl true if end-to-end flow control is available
 * @param retryCount retries of a request that is not acknowledged; values above 7 are treated as 7. The active side's
 *     value applies to both sides
 * @param rnrRetryCount retries when the receiver is not ready; values above 7 are treated as 7, which means unlimited
 *     retries. The value applies to the <em>peer's</em> queue pair
 * @param sharedReceiveQueue true if the queue pair uses a shared receive queue; ignored if the identifier has a queue
 *     pair
 * @param queuePairNumber the queue pair number, 24 bits; ignored if the identifier has a queue pair
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
    /** The depth that means the device's maximum. C: {@code RDMA_MAX_RESP_RES}, {@code RDMA_MAX_INIT_DEPTH}. */
    public static final int DEVICE_MAXIMUM = 0xff;

    /**
     * Maximum private data of a connection request, in bytes: the message's 92 minus 36 for the IP addressing header.
     */
    public static final int REQUEST_PRIVATE_DATA = 56;

    /** Maximum private data of an acceptance, in bytes. */
    public static final int REPLY_PRIVATE_DATA = 196;

    /** Maximum private data of a rejection, in bytes. */
    public static final int REJECT_PRIVATE_DATA = 148;

    /** No parameters: all values are zero, without private data. Events without parameters use it. */
    public static final ConnectionParameters NONE = new ConnectionParameters(new byte[0], 0, 0, false, 0, 0, false, 0);

    /**
     * Checks the ranges and copies the private data.
     *
     * @throws IllegalArgumentException if a depth or retry count is not in the range 0 to 255, or the queue pair number
     *     has more than 24 bits
     */
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

    /**
     * Returns the parameters of {@link CmId#connect()}: the device's maximum depths, and 7 for both retry counts.
     */
    public static ConnectionParameters defaults() {
        return new ConnectionParameters(new byte[0], DEVICE_MAXIMUM, DEVICE_MAXIMUM, false, 7, 7, false, 0);
    }

    /** Returns a copy of the private data. */
    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    /** Returns the size of the private data, in bytes. */
    public int privateDataLength() {
        return privateData.length;
    }

    /** Returns these parameters with the given private data. */
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

    /** Returns these parameters with the given depths. */
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

    /** Returns these parameters with the given retry counts. */
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

    /** Returns these parameters with or without end-to-end flow control. */
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

    /** Returns these parameters with the given queue pair number. */
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

    /** Returns these parameters for a queue pair with or without a shared receive queue. */
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
