package io.rdma4j.cm.abi;

import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.abi.CmStructures.DatagramService;
import io.rdma4j.cm.abi.CmStructures.Enhancement;
import io.rdma4j.cm.abi.CmStructures.Parameters;
import io.rdma4j.verbs.abi.AddressVectors;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;

/** Reads and writes parameters of connections and datagram services in the kernel's structures. */
public final class KernelParameters {
    private static final int QUEUE_PAIR_MASK = 0xff_ffff;

    private KernelParameters() {}

    /** Reads the parameters of a connection. C: {@code struct rdma_ucm_conn_param}. */
    public static ConnectionParameters connection(MemorySegment from) {
        int length = Fields.byteAt(from, Parameters.PRIVATE_DATA_BYTES);
        return new ConnectionParameters(
                Fields.bytesAt(from, Parameters.PRIVATE_DATA, length),
                Fields.byteAt(from, Parameters.RESPONDER_RESOURCES),
                Fields.byteAt(from, Parameters.INITIATOR_DEPTH),
                Fields.byteAt(from, Parameters.FLOW_CONTROL) != 0,
                Fields.byteAt(from, Parameters.RETRY_COUNT),
                Fields.byteAt(from, Parameters.RNR_RETRY_COUNT),
                Fields.byteAt(from, Parameters.SHARED_RECEIVE_QUEUE) != 0,
                Fields.intAt(from, Parameters.QUEUE_PAIR) & QUEUE_PAIR_MASK);
    }

    /** Writes the parameters of a connection into zeroed memory, and marks them as valid. */
    public static void put(MemorySegment to, ConnectionParameters parameters) {
        Fields.putInt(to, Parameters.QUEUE_PAIR, parameters.queuePairNumber());
        Fields.putBytes(to, Parameters.PRIVATE_DATA, parameters.privateData());
        Fields.putByte(to, Parameters.PRIVATE_DATA_BYTES, parameters.privateDataLength());
        Fields.putByte(to, Parameters.SHARED_RECEIVE_QUEUE, parameters.sharedReceiveQueue() ? 1 : 0);
        Fields.putByte(to, Parameters.RESPONDER_RESOURCES, parameters.responderResources());
        Fields.putByte(to, Parameters.INITIATOR_DEPTH, parameters.initiatorDepth());
        Fields.putByte(to, Parameters.FLOW_CONTROL, parameters.flowControl() ? 1 : 0);
        Fields.putByte(to, Parameters.RETRY_COUNT, parameters.retryCount());
        Fields.putByte(to, Parameters.RNR_RETRY_COUNT, parameters.rnrRetryCount());
        Fields.putByte(to, Parameters.IS_VALID, 1);
    }

    /** Reads the private data of a datagram service. */
    public static byte[] datagramPrivateData(MemorySegment from) {
        return Fields.bytesAt(
                from, DatagramService.PRIVATE_DATA, Fields.byteAt(from, DatagramService.PRIVATE_DATA_BYTES));
    }

    /** Reads the parameters for sending to a datagram service or a group, and adds private data. */
    public static DatagramParameters datagram(MemorySegment from, byte[] privateData) {
        return new DatagramParameters(
                privateData,
                KernelAttributes.path(from, DatagramService.PATH),
                Fields.intAt(from, DatagramService.QUEUE_PAIR) & QUEUE_PAIR_MASK,
                Fields.intAt(from, DatagramService.QUEUE_KEY));
    }

    /**
     * Writes the parameters of a datagram service or a group into zeroed memory. C: {@code struct rdma_ucm_ud_param}.
     */
    public static void put(MemorySegment to, DatagramParameters parameters) {
        byte[] privateData = parameters.privateData();
        Fields.putInt(to, DatagramService.QUEUE_PAIR, parameters.queuePairNumber());
        Fields.putInt(to, DatagramService.QUEUE_KEY, parameters.queueKey());
        AddressVectors.write(to, DatagramService.PATH, parameters.addressVector());
        Fields.putBytes(to, DatagramService.PRIVATE_DATA, privateData);
        Fields.putByte(to, DatagramService.PRIVATE_DATA_BYTES, privateData.length);
    }

    /** Reads the options of enhanced connection establishment. C: {@code struct rdma_ucm_ece}. */
    public static ConnectionEnhancement enhancement(MemorySegment from) {
        return new ConnectionEnhancement(
                Fields.intAt(from, Enhancement.VENDOR) & QUEUE_PAIR_MASK, Fields.intAt(from, Enhancement.OPTIONS));
    }

    /** Writes the options of enhanced connection establishment. */
    public static void put(MemorySegment to, ConnectionEnhancement enhancement) {
        Fields.putInt(to, Enhancement.VENDOR, enhancement.vendorId());
        Fields.putInt(to, Enhancement.OPTIONS, enhancement.options());
    }
}
