package io.rdma4j.sockets.io;

import io.rdma4j.sockets.options.RdmaSocketOptions;
import io.rdma4j.sockets.stream.BufferLimits;
import io.rdma4j.sockets.stream.StreamSizes;

/** The buffer sizes of sockets whose program sets none, by system properties. */
final class BufferProperties {
    private static final int DEFAULT_MAX_BYTES = 4 << 20;
    private static final int DEFAULT_TOTAL_MEGABYTES = 256;

    /** The initial sizes. */
    static final StreamSizes SIZES = sizes();

    /** The limits of growth. */
    static final BufferLimits LIMITS = new BufferLimits(
            limit(RdmaSocketOptions.MAX_SEND_BUFFER_PROPERTY), limit(RdmaSocketOptions.MAX_RECEIVE_BUFFER_PROPERTY));

    /** The memory in bytes by which all buffers of the process may grow. */
    static final long TOTAL_BYTES = (long) NumberProperty.read(
                    RdmaSocketOptions.TOTAL_GROWTH_PROPERTY, DEFAULT_TOTAL_MEGABYTES, 0, Integer.MAX_VALUE)
            << 20;

    private BufferProperties() {}

    private static StreamSizes sizes() {
        StreamSizes defaults = StreamSizes.DEFAULT;
        return new StreamSizes(
                defaults.sendQueue(),
                defaults.receiveQueue(),
                initial(RdmaSocketOptions.SEND_BUFFER_PROPERTY, defaults.sendBufferBytes()),
                initial(RdmaSocketOptions.RECEIVE_BUFFER_PROPERTY, defaults.receiveBufferBytes()),
                defaults.inlineBytes(),
                defaults.mappingEntries());
    }

    private static int initial(String name, int byDefault) {
        return NumberProperty.read(name, byDefault, StreamSizes.LOW_WATER_BYTES, StreamSizes.MAX_BUFFER_BYTES);
    }

    private static int limit(String name) {
        return NumberProperty.read(name, DEFAULT_MAX_BYTES, 0, StreamSizes.MAX_BUFFER_BYTES);
    }
}
