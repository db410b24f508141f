package io.rdma4j.sockets.io;

import io.rdma4j.sockets.datagram.DatagramSizes;

/**
 * What a datagram endpoint is set to. Immutable.
 *
 * @param sizes of the queues, until it is bound
 * @param reuseAddress whether others may have the port too, until it is bound
 * @param typeOfService IPv4 type of service or IPv6 traffic class
 */
public record DatagramSettings(DatagramSizes sizes, boolean reuseAddress, int typeOfService) {
    /** What librdmacm begins with. */
    public static final DatagramSettings DEFAULT = new DatagramSettings(DatagramSizes.DEFAULT, false, 0);

    /** The same with other sizes. */
    public DatagramSettings withSizes(DatagramSizes value) {
        return new DatagramSettings(value, reuseAddress, typeOfService);
    }

    /** The same with another word on sharing the port. */
    public DatagramSettings withReuseAddress(boolean value) {
        return new DatagramSettings(sizes, value, typeOfService);
    }

    /** The same with another type of service. */
    public DatagramSettings withTypeOfService(int value) {
        return new DatagramSettings(sizes, reuseAddress, value);
    }
}
