package io.rdma4j.sockets.datagram;

import io.rdma4j.wire.rsocket.DatagramHeader;

/**
 * Address and port of a datagram socket.
 *
 * @param high upper half of the address, in the form of a GID: IPv4 as {@code ::ffff:a.b.c.d}
 * @param low lower half of it
 * @param scope index of the network interface that a link-local address belongs to; 0 for all others
 * @param port 1 to 65535
 */
public record DatagramAddress(long high, long low, int scope, int port) {
    private static final long MAPPED = 0xffff;
    private static final int LINK_LOCAL = 0xfe80;
    private static final int LINK_LOCAL_BITS = 10;

    /** The address in a datagram that came from the network of {@code end}. */
    static DatagramAddress of(DatagramHeader header, DatagramAddress end) {
        boolean isLinkLocal =
                header.addressHigh() >>> Long.SIZE - LINK_LOCAL_BITS == LINK_LOCAL >>> Short.SIZE - LINK_LOCAL_BITS;
        return new DatagramAddress(
                header.addressHigh(), header.addressLow(), isLinkLocal ? end.scope : 0, header.port());
    }

    /** Whether it is one of IPv4. */
    public boolean isIpv4() {
        return high == 0 && low >>> Integer.SIZE == MAPPED;
    }

    /** Whether a header names it. */
    boolean isOf(DatagramHeader header) {
        return port == header.port() && low == header.addressLow() && high == header.addressHigh();
    }
}
