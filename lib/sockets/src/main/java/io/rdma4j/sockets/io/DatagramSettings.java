package io.rdma4j.sockets.io;

import io.rdma4j.sockets.datagram.DatagramSizes;

/**
 * The settings of a datagram endpoint. Immutable.
 *
 * @param sizes the sizes of the queues and buffers; fixed once the endpoint is bound
 * @param reuseAddress true if other sockets may use the port; fixed once the endpoint is bound
 * @param typeOfService IPv4 type of service or IPv6 traffic class
 */
public record DatagramSettings(DatagramSizes sizes, boolean reuseAddress, int typeOfService) {
    /** The default settings. */
    public static final DatagramSettings DEFAULT = new DatagramSettings(DefaultSizes.DATAGRAM_SIZES, false, 0);

    /** Returns these settings with other sizes. */
    public DatagramSettings withSizes(DatagramSizes value) {
        return new DatagramSettings(value, reuseAddress, typeOfService);
    }

    /** Returns these settings with another {@code reuseAddress}. */
    public DatagramSettings withReuseAddress(boolean value) {
        return new DatagramSettings(sizes, value, typeOfService);
    }

    /** Returns these settings with another type of service. */
    public DatagramSettings withTypeOfService(int value) {
        return new DatagramSettings(sizes, reuseAddress, value);
    }
}
