package io.rdma4j.cm;

import io.rdma4j.verbs.AddressVector;
import java.util.Arrays;

/**
 * The parameters for sending to an unreliable datagram queue pair or a multicast group. An event carries them. C:
 * {@code struct rdma_ud_param}. Immutable.
 *
 * @param privateData the peer's private data, the message's whole field; empty for a multicast group
 * @param addressVector path to the destination, for an address handle
 * @param queuePairNumber number of the destination queue pair; {@code 0xFFFFFF} for a multicast group
 * @param queueKey the queue key that datagrams must carry
 */
@SuppressWarnings("ArrayRecordComponent") // copied in and out, and compared by content
public record DatagramParameters(byte[] privateData, AddressVector addressVector, int queuePairNumber, int queueKey) {
    /** Queue key of the queue pairs and groups that the connection manager creates. C: {@code RDMA_UDP_QKEY}. */
    public static final int UDP_QUEUE_KEY = 0x0123_4567;

    /** Maximum private data of a service ID resolution request, in bytes. */
    public static final int REQUEST_PRIVATE_DATA = 180;

    /** Maximum private data of a service ID resolution response, in bytes. */
    public static final int REPLY_PRIVATE_DATA = 136;

    /** Copies the private data. */
    public DatagramParameters {
        privateData = privateData.clone();
    }

    /** Returns a copy of the private data. */
    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DatagramParameters that
                && addressVector.equals(that.addressVector)
                && queuePairNumber == that.queuePairNumber
                && queueKey == that.queueKey
                && Arrays.equals(privateData, that.privateData);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * addressVector.hashCode() + queuePairNumber) + Arrays.hashCode(privateData);
    }

    @Override
    public String toString() {
        return "queue pair 0x%06x, queue key 0x%08x, %s".formatted(queuePairNumber, queueKey, addressVector);
    }
}
