package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.SocketCleaner;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.io.StreamOptions;
import io.rdma4j.sockets.io.StreamSettings;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The options of a channel, usable before the channel has decided between RDMA and TCP. They are the options of an
 * endpoint, which the channel may never use. If the channel uses TCP, the options that were set are applied to the TCP
 * channel. Thread safe.
 */
final class ChannelOptions {
    private final Set<SocketOption<?>> supported;
    private final Object state = new Object();
    private final Map<SocketOption<?>, Object> requested = new ConcurrentHashMap<>();
    private volatile StreamEndpoint endpoint;
    private volatile StreamOptions ofEndpoint;
    private volatile Cleaner.@Nullable Cleanable cleanable;

    private ChannelOptions(Set<SocketOption<?>> supported, StreamEndpoint endpoint, StreamOptions ofEndpoint) {
        this.supported = supported;
        this.endpoint = endpoint;
        this.ofEndpoint = ofEndpoint;
    }

    /** Returns the options of a new channel. */
    static ChannelOptions of(ConnectionService service) {
        StreamEndpoint endpoint = new StreamEndpoint(service, StreamSettings.DEFAULT);
        return new ChannelOptions(StreamOptions.SUPPORTED, endpoint, new StreamOptions(endpoint));
    }

    /** Returns the options of a new channel that listens. */
    static ChannelOptions ofListener(ConnectionService service) {
        StreamEndpoint endpoint = new StreamEndpoint(service, StreamSettings.DEFAULT);
        return new ChannelOptions(StreamOptions.OF_LISTENERS, endpoint, StreamOptions.ofListener(endpoint));
    }

    /** Returns the options of a connection that a listener with these options has accepted over RDMA. */
    ChannelOptions ofAccepted(StreamEndpoint accepted) {
        return new ChannelOptions(StreamOptions.SUPPORTED, accepted, new StreamOptions(accepted, ofEndpoint));
    }

    /** Returns the options of a connection that a listener with these options has accepted over TCP. */
    ChannelOptions ofAccepted() {
        return ofAccepted(endpoint.another());
    }

    /** Closes the endpoint when its channel becomes unreachable. */
    void closeWith(Object channel) {
        cleanable = SocketCleaner.watch(channel, this::endpoint);
    }

    Set<SocketOption<?>> supported() {
        return supported;
    }

    /** Returns the endpoint that has these options. */
    StreamEndpoint endpoint() {
        return endpoint;
    }

    /** Creates another endpoint with these options. */
    StreamEndpoint renew() {
        StreamEndpoint created = endpoint.another();
        ofEndpoint = new StreamOptions(created, ofEndpoint);
        endpoint = created;
        return created;
    }

    /** Returns the object that guards the state of the channel. Setting an option depends on that state. */
    Object state() {
        return state;
    }

    /**
     * Sets an option. If the channel has a TCP channel and no endpoint, sets the option of the TCP channel.
     *
     * @throws java.nio.channels.ClosedChannelException if the channel is closed
     */
    <T> void set(RdmaSelectable channel, SocketOption<T> option, @Nullable T value) throws IOException {
        requireSupported(option);
        if (value == null) {
            throw new IllegalArgumentException("'" + option + "' cannot be null");
        }
        channel.requireOpen();
        synchronized (state) {
            NetworkChannel tcp = tcpWith(option, channel);
            if (tcp == null) {
                ofEndpoint.set(option, value);
                requested.put(option, value);
            } else {
                tcp.setOption(option, value);
            }
        }
    }

    /**
     * Returns the value of an option. If the channel has a TCP channel and no endpoint, returns the value of the TCP
     * channel.
     *
     * @throws java.nio.channels.ClosedChannelException if the channel is closed
     */
    <T> T get(RdmaSelectable channel, SocketOption<T> option) throws IOException {
        requireSupported(option);
        channel.requireOpen();
        NetworkChannel tcp = tcpWith(option, channel);
        return tcp == null ? ofEndpoint.get(option) : tcp.getOption(option);
    }

    /** Returns the TCP channel if it has the option and there is no endpoint, or null. */
    private static @Nullable NetworkChannel tcpWith(SocketOption<?> option, RdmaSelectable channel) {
        return channel.endpoint() == null
                        && channel.platformChannel() instanceof NetworkChannel tcp
                        && tcp.supportedOptions().contains(option)
                ? tcp
                : null;
    }

    /** Checks that the channel supports an option. */
    private void requireSupported(@Nullable SocketOption<?> option) {
        if (option == null) {
            throw new NullPointerException("option");
        }
        if (!supported.contains(option)) {
            throw new UnsupportedOperationException("'" + option + "' not supported");
        }
    }

    /** Applies the options that were set to a TCP channel. */
    void applyTo(NetworkChannel tcp) throws IOException {
        for (SocketOption<?> option : requested.keySet()) {
            if (tcp.supportedOptions().contains(option)) {
                apply(option, tcp);
            }
        }
    }

    private <T> void apply(SocketOption<T> option, NetworkChannel tcp) throws IOException {
        tcp.setOption(option, option.type().cast(requested.get(option)));
    }

    /**
     * Closes the endpoint and lingers according to the options.
     *
     * @param mayWait true if the caller may wait for the peer; otherwise a virtual thread does
     */
    void close(boolean mayWait) {
        Cleaner.Cleanable watch = cleanable;
        try {
            if (mayWait || ofEndpoint.get(StandardSocketOptions.SO_LINGER) >= 0) {
                ofEndpoint.close();
            } else {
                endpoint.closeWithoutWaiting();
            }
        } finally {
            if (watch != null) {
                watch.clean();
            }
        }
    }
}
