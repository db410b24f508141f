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
 * The options of a channel, usable before the channel has decided between RDMA and TCP. They are those of an endpoint,
 * which may never be used. Options that were set are applied to a TCP channel, too. Thread safe.
 */
final class ChannelOptions {
    private final Set<SocketOption<?>> supported;
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
    static ChannelOptions of(ConnectionService service, Set<SocketOption<?>> supported) {
        StreamEndpoint endpoint = new StreamEndpoint(service, StreamSettings.DEFAULT);
        return new ChannelOptions(supported, endpoint, new StreamOptions(endpoint));
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

    /** Checks an option and its value as far as is possible for a closed channel too. */
    void requireSettable(@Nullable SocketOption<?> option, @Nullable Object value) {
        requireSupported(option);
        if (value == null) {
            throw new IllegalArgumentException("'" + option + "' cannot be null");
        }
    }

    /** Sets an option; that of the TCP channel if there is one. */
    <T> void set(SocketOption<T> option, T value, @Nullable NetworkChannel tcp) throws IOException {
        if (tcp != null && tcp.supportedOptions().contains(option)) {
            tcp.setOption(option, value);
            return;
        }
        ofEndpoint.set(option, value);
        requested.put(option, value);
    }

    /** Returns the value of an option; that of the TCP channel if there is one. */
    <T> T get(SocketOption<T> option, @Nullable NetworkChannel tcp) throws IOException {
        return tcp != null && tcp.supportedOptions().contains(option) ? tcp.getOption(option) : ofEndpoint.get(option);
    }

    /** Checks that the channel supports an option. */
    void requireSupported(@Nullable SocketOption<?> option) {
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
