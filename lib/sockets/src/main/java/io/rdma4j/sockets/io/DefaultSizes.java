package io.rdma4j.sockets.io;

import io.rdma4j.sockets.datagram.DatagramSizes;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import io.rdma4j.sockets.stream.BufferLimits;
import io.rdma4j.sockets.stream.StreamSizes;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The default sizes of sockets, from system properties and the host's files. */
final class DefaultSizes {
    private static final int DEFAULT_MAX_BYTES = 4 << 20;
    /** More than any device supports; a device's own limit is lower. */
    private static final int MAX_INLINE_BYTES = 0xffff;

    private static final int DEFAULT_TOTAL_MEGABYTES = 256;

    /** The initial sizes. */
    static final StreamSizes SIZES =
            sizes(new AdministratorSettings(AdministratorSettings.FOLDER), System::getProperty);

    /** The sizes of datagram sockets, which do not grow. */
    static final DatagramSizes DATAGRAM_SIZES = new DatagramSizes(
            SIZES.sendQueue(),
            SIZES.receiveQueue(),
            SIZES.sendBufferBytes(),
            SIZES.receiveBufferBytes(),
            SIZES.inlineBytes());

    /** The limits of growth. */
    static final BufferLimits LIMITS = new BufferLimits(
            limit(RdmaSocketOptions.MAX_SEND_BUFFER_PROPERTY), limit(RdmaSocketOptions.MAX_RECEIVE_BUFFER_PROPERTY));

    /** The memory in bytes by which all buffers of the process together may grow. */
    static final long TOTAL_BYTES = (long) NumberProperty.read(
                    RdmaSocketOptions.TOTAL_GROWTH_PROPERTY, DEFAULT_TOTAL_MEGABYTES, 0, Integer.MAX_VALUE)
            << 20;

    private DefaultSizes() {}

    /** Returns the sizes from system properties, which take precedence, and from a host's files. */
    static StreamSizes sizes(AdministratorSettings host, Function<String, @Nullable String> properties) {
        StreamSizes defaults = StreamSizes.DEFAULT;
        int minQueue = StreamSizes.MIN_QUEUE;
        int maxQueue = StreamSizes.MAX_QUEUE;
        int minBuffer = StreamSizes.LOW_WATER_BYTES;
        int maxBuffer = StreamSizes.MAX_BUFFER_BYTES;
        int sendQueue = host.read("sqsize_default", defaults.sendQueue(), minQueue, maxQueue);
        int receiveQueue = host.read("rqsize_default", defaults.receiveQueue(), minQueue, maxQueue);
        int send = host.read("wmem_default", defaults.sendBufferBytes(), minBuffer, maxBuffer);
        int receive = host.read("mem_default", defaults.receiveBufferBytes(), minBuffer, maxBuffer);
        int inline = host.read("inline_default", defaults.inlineBytes(), 0, MAX_INLINE_BYTES);
        int mapping = host.read("iomap_size", defaults.mappingEntries(), 0, maxQueue);
        return new StreamSizes(
                property(properties, RdmaSocketOptions.SEND_QUEUE_PROPERTY, sendQueue, minQueue, maxQueue),
                property(properties, RdmaSocketOptions.RECEIVE_QUEUE_PROPERTY, receiveQueue, minQueue, maxQueue),
                property(properties, RdmaSocketOptions.SEND_BUFFER_PROPERTY, send, minBuffer, maxBuffer),
                property(properties, RdmaSocketOptions.RECEIVE_BUFFER_PROPERTY, receive, minBuffer, maxBuffer),
                property(properties, RdmaSocketOptions.INLINE_PROPERTY, inline, 0, MAX_INLINE_BYTES),
                property(properties, RdmaSocketOptions.MAPPING_PROPERTY, mapping, 0, maxQueue));
    }

    private static int property(
            Function<String, @Nullable String> properties, String name, int byDefault, int least, int most) {
        return NumberProperty.parse(name, properties.apply(name), byDefault, least, most);
    }

    private static int limit(String name) {
        return NumberProperty.read(name, DEFAULT_MAX_BYTES, 0, StreamSizes.MAX_BUFFER_BYTES);
    }
}
