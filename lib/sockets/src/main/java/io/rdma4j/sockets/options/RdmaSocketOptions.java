package io.rdma4j.sockets.options;

import io.rdma4j.cm.RoutePath;
import java.net.SocketOption;
import org.jspecify.annotations.Nullable;

/** Options of RDMA sockets in addition to {@link java.net.StandardSocketOptions}. C: the options of level SOL_RDMA. */
public final class RdmaSocketOptions {
    private record Option<T extends @Nullable Object>(String name, Class<T> type) implements SocketOption<T> {
        @Override
        public String toString() {
            return name;
        }
    }

    /** Maximum number of outstanding send work requests; can be set before connecting. C: {@code RDMA_SQSIZE}. */
    public static final SocketOption<Integer> RDMA_SQSIZE = new Option<>("RDMA_SQSIZE", Integer.class);

    /**
     * Maximum number of messages that the peer may send before it waits for credit; can be set before connecting. C:
     * {@code RDMA_RQSIZE}.
     */
    public static final SocketOption<Integer> RDMA_RQSIZE = new Option<>("RDMA_RQSIZE", Integer.class);

    /** Maximum size in bytes of messages that are sent inline; can be set before connecting. C: {@code RDMA_INLINE}. */
    public static final SocketOption<Integer> RDMA_INLINE = new Option<>("RDMA_INLINE", Integer.class);

    /**
     * Maximum number of memory ranges that the peer may map; can be set before connecting. C: {@code RDMA_IOMAPSIZE}.
     */
    public static final SocketOption<Integer> RDMA_IOMAPSIZE = new Option<>("RDMA_IOMAPSIZE", Integer.class);

    /**
     * True if a socket at the IPv6 wildcard address excludes IPv4; can be set before binding. C: {@code IPV6_V6ONLY}.
     */
    public static final SocketOption<Boolean> IPV6_V6ONLY = new Option<>("IPV6_V6ONLY", Boolean.class);

    /**
     * The path of a connection, instead of the one that the host would choose. Can be set before connecting, on the
     * active side. Null if no path was set; it cannot be set to null. The connection fails if the path MTU exceeds the
     * MTU of the device. C: {@code RDMA_ROUTE}. RoCE uses only those fields of its path records that {@link RoutePath}
     * has.
     */
    @SuppressWarnings("NullAway") // a nullable type has the same class
    public static final SocketOption<@Nullable RoutePath> RDMA_ROUTE = new Option<>("RDMA_ROUTE", RoutePath.class);

    /**
     * Maximum number of payload bytes of a packet: the path MTU of the connection, or 2048 before the socket is
     * connected. Setting it has no effect. C: {@code TCP_MAXSEG}.
     */
    public static final SocketOption<Integer> TCP_MAXSEG = new Option<>("TCP_MAXSEG", Integer.class);

    /**
     * The system property with the initial size in bytes of send buffers, unless the program sets {@code SO_SNDBUF}.
     * The default is the value in {@code /etc/rdma/rsocket/wmem_default}, or 131072 without that file. The buffers grow
     * with use; a size that the program sets is fixed.
     */
    public static final String SEND_BUFFER_PROPERTY = "rdma4j.sockets.sendBufferBytes";

    /**
     * The system property with the size of send queues in work requests, 16 to 65534, unless the program sets
     * {@link #RDMA_SQSIZE}. The default is the value in {@code /etc/rdma/rsocket/sqsize_default}, or 384 without that
     * file.
     */
    public static final String SEND_QUEUE_PROPERTY = "rdma4j.sockets.sendQueueEntries";

    /**
     * The system property with the size of receive queues in messages, 16 to 65534, unless the program sets
     * {@link #RDMA_RQSIZE}. The default is the value in {@code /etc/rdma/rsocket/rqsize_default}, or 384 without that
     * file.
     */
    public static final String RECEIVE_QUEUE_PROPERTY = "rdma4j.sockets.receiveQueueEntries";

    /**
     * The system property with the maximum size in bytes of messages that are sent inline, unless the program sets
     * {@link #RDMA_INLINE}. The default is the value in {@code /etc/rdma/rsocket/inline_default}, or 64 without that
     * file.
     */
    public static final String INLINE_PROPERTY = "rdma4j.sockets.inlineBytes";

    /**
     * The system property with the number of memory ranges that the peer may map, unless the program sets
     * {@link #RDMA_IOMAPSIZE}. The default is the value in {@code /etc/rdma/rsocket/iomap_size}, or 0 without that
     * file.
     */
    public static final String MAPPING_PROPERTY = "rdma4j.sockets.mappingEntries";

    /**
     * The system property with the maximum size in bytes to which send buffers grow. The default is 4 MiB; 0 disables
     * growth.
     */
    public static final String MAX_SEND_BUFFER_PROPERTY = "rdma4j.sockets.maxSendBufferBytes";

    /**
     * The system property with the initial size in bytes of receive buffers, unless the program sets {@code SO_RCVBUF}.
     * The default is the value in {@code /etc/rdma/rsocket/mem_default}, or 131072 without that file. The buffers grow
     * with use; a size that the program sets is fixed.
     */
    public static final String RECEIVE_BUFFER_PROPERTY = "rdma4j.sockets.receiveBufferBytes";

    /**
     * The system property with the maximum size in bytes to which receive buffers grow. The default is 4 MiB; 0
     * disables growth.
     */
    public static final String MAX_RECEIVE_BUFFER_PROPERTY = "rdma4j.sockets.maxReceiveBufferBytes";

    /**
     * The system property with the memory in MiB by which all buffers of the process together may grow. The default is
     * 256.
     */
    public static final String TOTAL_GROWTH_PROPERTY = "rdma4j.sockets.totalGrowthMegabytes";

    private RdmaSocketOptions() {}
}
