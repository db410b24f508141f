package io.rdma4j.sockets.io;

import static java.net.StandardSocketOptions.IP_TOS;
import static java.net.StandardSocketOptions.SO_KEEPALIVE;
import static java.net.StandardSocketOptions.SO_LINGER;
import static java.net.StandardSocketOptions.SO_RCVBUF;
import static java.net.StandardSocketOptions.SO_REUSEADDR;
import static java.net.StandardSocketOptions.SO_REUSEPORT;
import static java.net.StandardSocketOptions.SO_SNDBUF;
import static java.net.StandardSocketOptions.TCP_NODELAY;

import io.rdma4j.sockets.options.RdmaSocketOptions;
import io.rdma4j.sockets.stream.StreamSizes;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The options of a stream socket as {@link SocketOption}s, for all APIs of an endpoint. A row of the table below defines
 * each option: whether listeners have it, how it is read, and how it is set. Thread safe.
 */
public final class StreamOptions {
    /** librdmacm, like Linux, doubles the requested buffer size. */
    private static final int BUFFER_FACTOR = 2;

    /** The size that librdmacm uses if a send buffer is too small to send from. */
    private static final int MIN_SEND_BYTES = 4096;

    /** The type of service is a byte of the IP header. */
    private static final int MAX_TYPE_OF_SERVICE = 255;

    /** The segment size that librdmacm returns while there is no path. */
    private static final int UNKNOWN_SEGMENT_BYTES = 2048;

    /** How an option is read and set. */
    private record Row<T extends @Nullable Object>(
            boolean isOfListeners, Function<StreamOptions, T> getter, Setter<T> setter) {}

    private interface Setter<T extends @Nullable Object> {
        void set(StreamOptions options, T value) throws IOException;
    }

    private interface Resizing {
        StreamSizes resized(StreamSizes now, int value);
    }

    private static final Map<SocketOption<?>, Row<?>> ROWS = new HashMap<>();

    /** The initial values of the options that are stored. */
    private static final Map<SocketOption<?>, Object> STORED = new HashMap<>();

    static {
        addRow(SO_SNDBUF, false, of -> of.sizes().sendBufferBytes() / BUFFER_FACTOR, StreamOptions::setSendBuffer);
        addRow(SO_RCVBUF, true, of -> of.sizes().receiveBufferBytes() / BUFFER_FACTOR, StreamOptions::setReceiveBuffer);
        addRow(SO_REUSEADDR, true, StreamOptions::reuseAddress, StreamOptions::setReuseAddress);
        addRow(IP_TOS, true, of -> of.settings().typeOfService(), StreamOptions::setTypeOfService);
        addRow(
                RdmaSocketOptions.IPV6_V6ONLY,
                true,
                of -> of.settings().ipv6Only(),
                (of, value) -> of.endpoint.settings(of.settings().withIpv6Only(value)));
        addRow(RdmaSocketOptions.RDMA_ROUTE, false, of -> of.settings().route(), (of, value) -> {
            of.requireUnsized(RdmaSocketOptions.RDMA_ROUTE);
            of.endpoint.settings(of.settings().withRoute(Objects.requireNonNull(value)));
        });
        addRow(
                RdmaSocketOptions.TCP_MAXSEG,
                false,
                of -> of.endpoint.pathMtuBytes().orElse(UNKNOWN_SEGMENT_BYTES),
                (of, value) -> requireNotNegative(RdmaSocketOptions.TCP_MAXSEG, value));
        addSize(RdmaSocketOptions.RDMA_SQSIZE, StreamSizes::sendQueue, (now, value) -> now.withSendQueue(queue(value)));
        addSize(
                RdmaSocketOptions.RDMA_RQSIZE,
                StreamSizes::receiveQueue,
                (now, value) -> now.withReceiveQueue(queue(value)));
        addSize(RdmaSocketOptions.RDMA_INLINE, StreamSizes::inlineBytes, StreamSizes::withInlineBytes);
        addSize(
                RdmaSocketOptions.RDMA_IOMAPSIZE,
                StreamSizes::mappingEntries,
                (now, value) -> now.withMappingEntries(Math.min(value, StreamSizes.MAX_QUEUE)));
        addStored(SO_KEEPALIVE, false, false);
        addStored(SO_REUSEPORT, true, false); // this and the following options have no effect over RDMA
        addStored(TCP_NODELAY, false, false);
        addStored(SO_LINGER, false, -1);
        KeepAliveOptions.ALL.forEach((option, value) -> addStored(option, true, value));
    }

    /** The options that can be set and read. */
    public static final Set<SocketOption<?>> SUPPORTED = Set.copyOf(ROWS.keySet());

    /** The options of a listener. */
    public static final Set<SocketOption<?>> OF_LISTENERS = ROWS.entrySet().stream()
            .filter(row -> row.getValue().isOfListeners())
            .map(Map.Entry::getKey)
            .collect(Collectors.toUnmodifiableSet());

    private final StreamEndpoint endpoint;
    private final Map<SocketOption<?>, Object> stored;

    /** Creates the options of an endpoint, with the defaults of librdmacm. */
    public StreamOptions(StreamEndpoint endpoint) {
        this(endpoint, STORED);
    }

    private StreamOptions(StreamEndpoint endpoint, Map<SocketOption<?>, Object> stored) {
        this.endpoint = endpoint;
        this.stored = new ConcurrentHashMap<>(stored);
    }

    /** Creates the options of an accepted connection, which inherits the options of its listener. */
    public StreamOptions(StreamEndpoint endpoint, StreamOptions listener) {
        this(endpoint, listener.stored);
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

    // ---- rows

    private static <T extends @Nullable Object> void addRow(
            SocketOption<T> option, boolean isOfListeners, Function<StreamOptions, T> getter, Setter<T> setter) {
        ROWS.put(option, new Row<>(isOfListeners, getter, setter));
    }

    /** Adds an option that is a size of later connections. */
    private static void addSize(
            SocketOption<Integer> option, Function<StreamSizes, Integer> getter, Resizing resizing) {
        addRow(option, true, of -> getter.apply(of.sizes()), (of, value) -> {
            requireNotNegative(option, value);
            of.requireUnsized(option);
            of.endpoint.settings(of.settings().withSizes(resizing.resized(of.sizes(), value)));
        });
    }

    /** Adds an option whose value is stored and returned. */
    private static <T> void addStored(SocketOption<T> option, boolean isOfListeners, Object initial) {
        STORED.put(option, initial);
        addRow(
                option,
                isOfListeners,
                of -> option.type().cast(Objects.requireNonNull(of.stored.get(option))),
                (of, value) -> {
                    if (option.equals(SO_LINGER)) {
                        of.stored.put(option, Math.max(-1, (Integer) value));
                    } else {
                        if (value instanceof Integer number) {
                            KeepAliveOptions.requireValid(option, number);
                        }
                        of.stored.put(option, value);
                        of.updateKeepAlive();
                    }
                });
    }

    private static int queue(int value) {
        return Math.clamp(value, StreamSizes.MIN_QUEUE, StreamSizes.MAX_QUEUE);
    }

    private static void requireNotNegative(SocketOption<?> option, int value) {
        if (value < 0) {
            throw new IllegalArgumentException(option + " cannot be " + value);
        }
    }

    private void requireUnsized(SocketOption<?> option) throws SocketException {
        if (isSized()) {
            throw new SocketException("Invalid argument (" + option + " must be set before the socket is connected)");
        }
    }

    /** Returns whether the sizes are fixed, because the socket connects or is connected. */
    private boolean isSized() {
        StreamEndpoint.State state = endpoint.state();
        return state != StreamEndpoint.State.NEW && state != StreamEndpoint.State.LISTENING;
    }

    private StreamSettings settings() {
        return endpoint.settings();
    }

    private StreamSizes sizes() {
        return settings().sizes();
    }

    private void setSendBuffer(int value) throws IOException {
        requireNotNegative(SO_SNDBUF, value);
        if (!isSized()) {
            int doubled = doubled(value);
            int bytes = doubled < StreamSizes.LOW_WATER_BYTES ? MIN_SEND_BYTES : doubled;
            StreamSettings now = settings();
            endpoint.settings(now.withSizes(now.sizes().withSendBufferBytes(bytes))
                    .withLimits(now.limits().withFixedSend()));
        }
    }

    private void setReceiveBuffer(int value) throws IOException {
        requireNotNegative(SO_RCVBUF, value);
        if (!isSized()) {
            int bytes = Math.max(BUFFER_FACTOR, doubled(value));
            StreamSettings now = settings();
            endpoint.settings(now.withSizes(now.sizes().withReceiveBufferBytes(bytes))
                    .withLimits(now.limits().withFixedReceive()));
        }
    }

    private static int doubled(int value) {
        return (int) Math.min((long) value * BUFFER_FACTOR, StreamSizes.MAX_BUFFER_BYTES);
    }

    private boolean reuseAddress() {
        return stored.get(SO_REUSEADDR) instanceof Boolean ofListener
                ? ofListener
                : settings().reuseAddress();
    }

    private void setReuseAddress(boolean value) throws IOException {
        stored.computeIfPresent(SO_REUSEADDR, (same, before) -> value);
        endpoint.settings(settings().withReuseAddress(value));
    }

    private void setTypeOfService(int value) throws IOException {
        if (value < 0 || value > MAX_TYPE_OF_SERVICE) {
            throw new IllegalArgumentException(IP_TOS + " cannot be " + value);
        }
        endpoint.settings(settings().withTypeOfService(value));
    }

    private void updateKeepAlive() throws IOException {
        KeepAliveTimes times =
                Boolean.TRUE.equals(stored.get(SO_KEEPALIVE)) ? KeepAliveOptions.timesIn(stored) : KeepAliveTimes.NONE;
        StreamSettings now = settings();
        if (!now.keepAlive().equals(times)) {
            endpoint.settings(now.withKeepAlive(times));
        }
    }

    // ---- use

    @SuppressWarnings("unchecked") // addRow has the same type for both
    private static <T extends @Nullable Object> Row<T> row(SocketOption<T> option) {
        Row<?> row = ROWS.get(option);
        if (row == null) {
            throw new UnsupportedOperationException("RDMA stream sockets have no option " + option);
        }
        return (Row<T>) row;
    }

    /**
     * Sets an option.
     *
     * @throws UnsupportedOperationException if it is not among {@link #SUPPORTED}
     * @throws IllegalArgumentException if the value is invalid or null
     * @throws SocketException if the option can be set only before the socket is connected
     */
    public synchronized <T extends @Nullable Object> void set(SocketOption<T> option, T value) throws IOException {
        Row<T> row = row(option);
        if (!option.type().isInstance(value)) {
            throw new IllegalArgumentException(option + " cannot be " + value);
        }
        row.setter().set(this, value);
    }

    /**
     * Returns the value of an option, null only for {@link RdmaSocketOptions#RDMA_ROUTE} if no route was set. A size is
     * the requested one, even after the socket was connected.
     *
     * @throws UnsupportedOperationException if it is not among {@link #SUPPORTED}
     */
    public <T extends @Nullable Object> T get(SocketOption<T> option) {
        return row(option).getter().apply(this);
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
}
