package io.rdma4j.sockets;

import io.rdma4j.cm.RoutePath;
import java.net.SocketOption;

/** Options of RDMA sockets beside those of {@link java.net.StandardSocketOptions}. C: the options of level SOL_RDMA. */
public final class RdmaSocketOptions {
    private record Option<T>(String name, Class<T> type) implements SocketOption<T> {
        @Override
        public String toString() {
            return name;
        }
    }

    /** Work requests that may be under way; to be set before the socket is connected. C: {@code RDMA_SQSIZE}. */
    public static final SocketOption<Integer> RDMA_SQSIZE = new Option<>("RDMA_SQSIZE", Integer.class);

    /** Messages that may arrive before the peer waits; to be set before connecting. C: {@code RDMA_RQSIZE}. */
    public static final SocketOption<Integer> RDMA_RQSIZE = new Option<>("RDMA_RQSIZE", Integer.class);

    /** Messages up to so many bytes are copied when they are sent; before connecting. C: {@code RDMA_INLINE}. */
    public static final SocketOption<Integer> RDMA_INLINE = new Option<>("RDMA_INLINE", Integer.class);

    /** Pieces of memory that the peer may map; before connecting. C: {@code RDMA_IOMAPSIZE}. */
    public static final SocketOption<Integer> RDMA_IOMAPSIZE = new Option<>("RDMA_IOMAPSIZE", Integer.class);

    /** Whether a socket at the IPv6 wildcard address leaves IPv4 alone; before binding. C: {@code IPV6_V6ONLY}. */
    public static final SocketOption<Boolean> IPV6_V6ONLY = new Option<>("IPV6_V6ONLY", Boolean.class);

    /**
     * The path of a connection, in place of the one that the host would take; before connecting, for the side that connects.
     * {@code null} while none was chosen. A path MTU beyond the device's has the connection fail. C: {@code RDMA_ROUTE}, of
     * whose path records RoCE uses what is in {@link RoutePath}.
     */
    public static final SocketOption<RoutePath> RDMA_ROUTE = new Option<>("RDMA_ROUTE", RoutePath.class);

    /**
     * Most payload bytes of a packet: the path MTU of the connection, and 2048 without one. What it is set to is ignored. C:
     * {@code TCP_MAXSEG}.
     */
    public static final SocketOption<Integer> TCP_MAXSEG = new Option<>("TCP_MAXSEG", Integer.class);

    private RdmaSocketOptions() {}
}
