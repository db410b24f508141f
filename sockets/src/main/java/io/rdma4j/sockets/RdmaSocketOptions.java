package io.rdma4j.sockets;

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

    private RdmaSocketOptions() {}
}
