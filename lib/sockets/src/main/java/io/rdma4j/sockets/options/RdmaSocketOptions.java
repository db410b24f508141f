package io.rdma4j.sockets.options;

import io.rdma4j.cm.RoutePath;
import java.net.SocketOption;
import org.jspecify.annotations.Nullable;

/** Options of RDMA sockets beside those of {@link java.net.StandardSocketOptions}. C: the options of level SOL_RDMA. */
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
     * The path of a connection, in place of the one that the host would choose. Can be set before connecting, on the
     * active side. Null while no path was set; it cannot be set to null. The connection fails if the path MTU exceeds that
     * of the device. C: {@code RDMA_ROUTE}; of its path records, RoCE uses the fields of {@link RoutePath}.
     */
    @SuppressWarnings("NullAway") // the class of a type that may be null is that of the type
    public static final SocketOption<@Nullable RoutePath> RDMA_ROUTE = new Option<>("RDMA_ROUTE", RoutePath.class);

    /**
     * Maximum number of payload bytes of a packet: the path MTU of the connection, or 2048 without one. Setting it has
     * no effect. C: {@code TCP_MAXSEG}.
     */
    public static final SocketOption<Integer> TCP_MAXSEG = new Option<>("TCP_MAXSEG", Integer.class);

    /**
     * The system property with the initial size in bytes of send buffers, for sockets whose program does not set
     * {@code SO_SNDBUF}; by default that of {@code /etc/rdma/rsocket/wmem_default}, else 131072. The buffers grow
     * with use; a size that the program sets is fixed.
     */
    public static final String SEND_BUFFER_PROPERTY = "rdma4j.sockets.sendBufferBytes";

    /**
     * The system property with the size of send queues, in work requests, for sockets whose program does not set {@link
     * #RDMA_SQSIZE}: 16 to 65534, by default that of {@code /etc/rdma/rsocket/sqsize_default}, else 384.
     */
    public static final String SEND_QUEUE_PROPERTY = "rdma4j.sockets.sendQueueEntries";

    /**
     * The system property with the size of receive queues, in messages, for sockets whose program does not set {@link
     * #RDMA_RQSIZE}: 16 to 65534, by default that of {@code /etc/rdma/rsocket/rqsize_default}, else 384.
     */
    public static final String RECEIVE_QUEUE_PROPERTY = "rdma4j.sockets.receiveQueueEntries";

    /**
     * The system property with the size in bytes up to which messages are copied when they are posted, for sockets whose
     * program does not set {@link #RDMA_INLINE}; by default that of {@code /etc/rdma/rsocket/inline_default}, else 64.
     */
    public static final String INLINE_PROPERTY = "rdma4j.sockets.inlineBytes";

    /**
     * The system property with the number of memory ranges that the peer may map, for sockets whose program does not set
     * {@link #RDMA_IOMAPSIZE}; by default that of {@code /etc/rdma/rsocket/iomap_size}, else 0.
     */
    public static final String MAPPING_PROPERTY = "rdma4j.sockets.mappingEntries";

    /** The system property with the maximum size in bytes to which send buffers grow; by default 4 MiB, 0 for no growth. */
    public static final String MAX_SEND_BUFFER_PROPERTY = "rdma4j.sockets.maxSendBufferBytes";

    /**
     * The system property with the initial size in bytes of receive buffers, for sockets whose program does not set
     * {@code SO_RCVBUF}; by default that of {@code /etc/rdma/rsocket/mem_default}, else 131072. The buffers grow
     * with use; a size that the program sets is fixed.
     */
    public static final String RECEIVE_BUFFER_PROPERTY = "rdma4j.sockets.receiveBufferBytes";

    /**
     * The system property with the maximum size in bytes to which receive buffers grow; by default 4 MiB, 0 for no growth.
     */
    public static final String MAX_RECEIVE_BUFFER_PROPERTY = "rdma4j.sockets.maxReceiveBufferBytes";

    /** The system property with the memory in MiB by which all buffers of the process may grow; by default 256. */
    public static final String TOTAL_GROWTH_PROPERTY = "rdma4j.sockets.totalGrowthMegabytes";

    private RdmaSocketOptions() {}
}
