package io.rdma4j.sockets.io;

import static java.net.StandardSocketOptions.IP_TOS;
import static java.net.StandardSocketOptions.SO_KEEPALIVE;
import static java.net.StandardSocketOptions.SO_LINGER;
import static java.net.StandardSocketOptions.SO_RCVBUF;
import static java.net.StandardSocketOptions.SO_REUSEADDR;
import static java.net.StandardSocketOptions.SO_REUSEPORT;
import static java.net.StandardSocketOptions.SO_SNDBUF;
import static java.net.StandardSocketOptions.TCP_NODELAY;

import io.rdma4j.cm.RoutePath;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import io.rdma4j.sockets.stream.BufferLimits;
import io.rdma4j.sockets.stream.StreamSizes;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The options of a stream socket as {@link SocketOption}s, for all APIs of an endpoint. Options that have no effect
 * over RDMA are stored and returned. Thread safe.
 */
public final class StreamOptions {
    /** The options that can be set and read. */
    public static final Set<SocketOption<?>> SUPPORTED = KeepAliveOptions.with(Set.of(
            SO_SNDBUF,
            SO_RCVBUF,
            SO_REUSEADDR,
            SO_REUSEPORT,
            SO_KEEPALIVE,
            SO_LINGER,
            IP_TOS,
            TCP_NODELAY,
            RdmaSocketOptions.IPV6_V6ONLY,
            RdmaSocketOptions.RDMA_SQSIZE,
            RdmaSocketOptions.RDMA_RQSIZE,
            RdmaSocketOptions.RDMA_INLINE,
            RdmaSocketOptions.RDMA_IOMAPSIZE,
            RdmaSocketOptions.RDMA_ROUTE,
            RdmaSocketOptions.TCP_MAXSEG));

    /** The options of a listener. */
    public static final Set<SocketOption<?>> OF_LISTENERS = KeepAliveOptions.with(Set.of(
            SO_RCVBUF,
            SO_REUSEADDR,
            SO_REUSEPORT,
            IP_TOS,
            RdmaSocketOptions.IPV6_V6ONLY,
            RdmaSocketOptions.RDMA_SQSIZE,
            RdmaSocketOptions.RDMA_RQSIZE,
            RdmaSocketOptions.RDMA_INLINE,
            RdmaSocketOptions.RDMA_IOMAPSIZE));

    /** librdmacm, like Linux, doubles the requested buffer size. */
    private static final int BUFFER_FACTOR = 2;

    /** The size that librdmacm uses if a send buffer is too small to send from. */
    private static final int MIN_SEND_BYTES = 4096;

    /** The type of service is a byte of the IP header. */
    private static final int MAX_TYPE_OF_SERVICE = 255;

    /** The segment size that librdmacm returns while there is no path. */
    private static final int UNKNOWN_SEGMENT_BYTES = 2048;

    private final StreamEndpoint endpoint;
    private final Map<SocketOption<?>, Object> stored = new ConcurrentHashMap<>();

    /** Creates the options of an endpoint, with the defaults of librdmacm. */
    public StreamOptions(StreamEndpoint endpoint) {
        this.endpoint = endpoint;
        stored.put(TCP_NODELAY, false);
        stored.put(SO_LINGER, -1);
        stored.put(SO_KEEPALIVE, false);
        stored.put(SO_REUSEPORT, false);
        stored.putAll(KeepAliveOptions.DEFAULTS);
        stored.putAll(KeepAliveOptions.OF_TCP);
    }

    /**
     * Creates the options of a listener. {@code SO_REUSEADDR} is true by default, except on Windows, like in Java's
     * listeners.
     */
    public static StreamOptions ofListener(StreamEndpoint endpoint) {
        StreamOptions created = new StreamOptions(endpoint);
        created.stored.put(SO_REUSEADDR, !System.getProperty("os.name", "").startsWith("Windows"));
        return created;
    }

    /** Creates the options of an accepted connection, which inherits the options of its listener. */
    public StreamOptions(StreamEndpoint endpoint, StreamOptions listener) {
        this.endpoint = endpoint;
        stored.putAll(listener.stored);
    }

    /**
     * Sets an option.
     *
     * @throws UnsupportedOperationException if it is not among {@link #SUPPORTED}
     * @throws IllegalArgumentException if the value is invalid or null
     * @throws SocketException if the option can be set only before the socket is connected
     */
    public synchronized <T extends @Nullable Object> void set(SocketOption<T> option, T value) throws IOException {
        requireSupported(option);
        if (value == null) {
            throw new IllegalArgumentException(option + " cannot be null");
        }
        StreamSettings now = endpoint.settings();
        switch (value) {
            case Boolean flag -> setFlag(option, flag, now);
            case Integer number -> setNumber(option, number, now);
            case RoutePath route -> {
                requireUnsized(option);
                endpoint.settings(now.withRoute(route));
            }
            default -> throw new IllegalArgumentException(option + " cannot be " + value);
        }
    }

    private void setFlag(SocketOption<?> option, boolean value, StreamSettings now) throws IOException {
        if (option.equals(SO_REUSEADDR)) {
            stored.computeIfPresent(option, (same, before) -> value);
            endpoint.settings(now.withReuseAddress(value));
        } else if (option.equals(RdmaSocketOptions.IPV6_V6ONLY)) {
            endpoint.settings(now.withIpv6Only(value));
        } else {
            stored.put(option, value);
            updateKeepAlive();
        }
    }

    private void setNumber(SocketOption<?> option, int value, StreamSettings now) throws IOException {
        if (option.equals(SO_LINGER)) {
            stored.put(option, Math.max(-1, value));
        } else if (value < 0) {
            throw new IllegalArgumentException(option + " cannot be " + value);
        } else if (option.equals(IP_TOS)) {
            if (value > MAX_TYPE_OF_SERVICE) {
                throw new IllegalArgumentException(option + " cannot be " + value);
            }
            endpoint.settings(now.withTypeOfService(value));
        } else if (KeepAliveOptions.DEFAULTS.containsKey(option) || KeepAliveOptions.OF_TCP.containsKey(option)) {
            if (value == 0) {
                throw new IllegalArgumentException(option + " must be at least 1");
            }
            if (!KeepAliveOptions.accepts(option, value)) {
                throw new SocketException("Invalid argument (" + option + " cannot be " + value + ")");
            }
            stored.put(option, value);
            updateKeepAlive();
        } else if (isBuffer(option)) {
            if (!isSized()) {
                BufferLimits limits = option.equals(SO_SNDBUF)
                        ? now.limits().withFixedSend()
                        : now.limits().withFixedReceive();
                endpoint.settings(
                        now.withSizes(resized(option, value, now.sizes())).withLimits(limits));
            }
        } else if (!option.equals(RdmaSocketOptions.TCP_MAXSEG)) {
            requireUnsized(option);
            endpoint.settings(now.withSizes(resized(option, value, now.sizes())));
        }
    }

    private void requireUnsized(SocketOption<?> option) throws SocketException {
        if (isSized()) {
            throw new SocketException("Invalid argument (" + option + " must be set before the socket is connected)");
        }
    }

    private static boolean isBuffer(SocketOption<?> option) {
        return option.equals(SO_SNDBUF) || option.equals(SO_RCVBUF);
    }

    /** Returns whether the sizes are fixed, because the socket connects or is connected. */
    private boolean isSized() {
        StreamEndpoint.State state = endpoint.state();
        return state != StreamEndpoint.State.NEW && state != StreamEndpoint.State.LISTENING;
    }

    private static StreamSizes resized(SocketOption<?> option, int value, StreamSizes now) {
        int queue = Math.clamp(value, StreamSizes.MIN_QUEUE, StreamSizes.MAX_QUEUE);
        long doubled = Math.min((long) value * BUFFER_FACTOR, StreamSizes.MAX_BUFFER_BYTES);
        boolean tooSmall = doubled < StreamSizes.LOW_WATER_BYTES;
        return new StreamSizes(
                option.equals(RdmaSocketOptions.RDMA_SQSIZE) ? queue : now.sendQueue(),
                option.equals(RdmaSocketOptions.RDMA_RQSIZE) ? queue : now.receiveQueue(),
                option.equals(SO_SNDBUF) ? tooSmall ? MIN_SEND_BYTES : (int) doubled : now.sendBufferBytes(),
                option.equals(SO_RCVBUF) ? Math.max(BUFFER_FACTOR, (int) doubled) : now.receiveBufferBytes(),
                option.equals(RdmaSocketOptions.RDMA_INLINE) ? value : now.inlineBytes(),
                option.equals(RdmaSocketOptions.RDMA_IOMAPSIZE)
                        ? Math.min(value, StreamSizes.MAX_QUEUE)
                        : now.mappingEntries());
    }

    private void updateKeepAlive() throws IOException {
        KeepAliveTimes times =
                Boolean.TRUE.equals(stored.get(SO_KEEPALIVE)) ? KeepAliveOptions.timesIn(stored) : KeepAliveTimes.NONE;
        StreamSettings now = endpoint.settings();
        if (!now.keepAlive().equals(times)) {
            endpoint.settings(now.withKeepAlive(times));
        }
    }

    /**
     * Returns the value of an option, null only for {@link RdmaSocketOptions#RDMA_ROUTE} if no route was set. A size is
     * the requested one, even after the socket was connected.
     *
     * @throws UnsupportedOperationException if it is not among {@link #SUPPORTED}
     */
    @SuppressWarnings("NullAway") // the only option that can be null has a nullable type
    public <T extends @Nullable Object> T get(SocketOption<T> option) {
        requireSupported(option);
        return option.type().cast(value(option));
    }

    private @Nullable Object value(SocketOption<?> option) {
        Object value = stored.get(option);
        StreamSettings now = endpoint.settings();
        StreamSizes sizes = now.sizes();
        if (value != null) {
            return value;
        } else if (option.equals(SO_REUSEADDR)) {
            return now.reuseAddress();
        } else if (option.equals(RdmaSocketOptions.IPV6_V6ONLY)) {
            return now.ipv6Only();
        } else if (option.equals(IP_TOS)) {
            return now.typeOfService();
        } else if (option.equals(RdmaSocketOptions.RDMA_ROUTE)) {
            return now.route();
        } else if (option.equals(RdmaSocketOptions.TCP_MAXSEG)) {
            return endpoint.pathMtuBytes().orElse(UNKNOWN_SEGMENT_BYTES);
        } else if (option.equals(SO_SNDBUF)) {
            return sizes.sendBufferBytes() / BUFFER_FACTOR;
        } else if (option.equals(SO_RCVBUF)) {
            return sizes.receiveBufferBytes() / BUFFER_FACTOR;
        } else if (option.equals(RdmaSocketOptions.RDMA_SQSIZE)) {
            return sizes.sendQueue();
        } else if (option.equals(RdmaSocketOptions.RDMA_RQSIZE)) {
            return sizes.receiveQueue();
        } else if (option.equals(RdmaSocketOptions.RDMA_INLINE)) {
            return sizes.inlineBytes();
        }
        return sizes.mappingEntries();
    }

    /** Closes the endpoint; lingers as {@code SO_LINGER} specifies. */
    public void close() {
        int seconds = get(SO_LINGER);
        if (seconds < 0) {
            endpoint.close();
        } else {
            endpoint.close(TimeUnit.SECONDS.toNanos(seconds));
        }
    }

    private static void requireSupported(SocketOption<?> option) {
        if (!SUPPORTED.contains(option)) {
            throw new UnsupportedOperationException("RDMA stream sockets have no option " + option);
        }
    }
}
