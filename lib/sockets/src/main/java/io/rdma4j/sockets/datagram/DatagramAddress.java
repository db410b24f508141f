package io.rdma4j.sockets.datagram;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.rsocket.DatagramHeader;

/**
 * The address and port of a datagram socket.
 *
 * @param high upper half of the address, in the form of a GID: IPv4 as {@code ::ffff:a.b.c.d}
 * @param low lower half of the address
 * @param scope index of the network interface of a link-local address; 0 for all others
 * @param port 1 to 65535
 */
public record DatagramAddress(long high, long low, int scope, int port) {
    private static final int LINK_LOCAL = 0xfe80;
    private static final int LINK_LOCAL_BITS = 10;

    /** Returns the source address of a datagram that was received at {@code end}. */
    static DatagramAddress of(DatagramHeader header, DatagramAddress end) {
        boolean isLinkLocal =
                header.addressHigh() >>> Long.SIZE - LINK_LOCAL_BITS == LINK_LOCAL >>> Short.SIZE - LINK_LOCAL_BITS;
        return new DatagramAddress(
                header.addressHigh(), header.addressLow(), isLinkLocal ? end.scope : 0, header.port());
    }

    /** Returns whether this is an IPv4 address. */
    public boolean isIpv4() {
        return Gid.isIpv4(high, low);
    }

    /** Returns whether a header contains this address and port. */
    boolean isOf(DatagramHeader header) {
        return port == header.port() && low == header.addressLow() && high == header.addressHigh();
    }
}
