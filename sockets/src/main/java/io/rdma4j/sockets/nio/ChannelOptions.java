package io.rdma4j.sockets.nio;

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
 * The options of a channel: known before it is known whether they are for RDMA or for TCP. They are those of an endpoint, which
 * may never be used; and what was set is set again at a TCP channel. Thread safe.
 */
final class ChannelOptions {
    private final Set<SocketOption<?>> supported;
    private final Map<SocketOption<?>, Object> asked = new ConcurrentHashMap<>();
    private volatile StreamEndpoint endpoint;
    private volatile StreamOptions ofEndpoint;
    private volatile Cleaner.@Nullable Cleanable forgotten;

    private ChannelOptions(Set<SocketOption<?>> supported, StreamEndpoint endpoint, StreamOptions ofEndpoint) {
        this.supported = supported;
        this.endpoint = endpoint;
        this.ofEndpoint = ofEndpoint;
    }

    /** Those of a new channel. */
    static ChannelOptions of(Set<SocketOption<?>> supported) {
        StreamEndpoint endpoint = new StreamEndpoint(StreamSettings.DEFAULT);
        return new ChannelOptions(supported, endpoint, new StreamOptions(endpoint));
    }

    /** Those of a connection that a listener with these has accepted over RDMA. */
    ChannelOptions ofAccepted(StreamEndpoint accepted) {
        return new ChannelOptions(StreamOptions.SUPPORTED, accepted, new StreamOptions(accepted, ofEndpoint));
    }

    /** Those of a connection that a listener with these has accepted over TCP. */
    ChannelOptions ofAccepted() {
        return ofAccepted(new StreamEndpoint(endpoint.settings()));
    }

    /** Has the endpoint closed when nobody refers to its channel any more. */
    void closeWith(Object channel) {
        forgotten = SocketCleaner.watch(channel, this::endpoint);
    }

    Set<SocketOption<?>> supported() {
        return supported;
    }

    /** The endpoint that they are options of. */
    StreamEndpoint endpoint() {
        return endpoint;
    }

    /** Makes another endpoint with these options. */
    StreamEndpoint renew() {
        StreamEndpoint made = new StreamEndpoint(endpoint.settings());
        ofEndpoint = new StreamOptions(made, ofEndpoint);
        endpoint = made;
        return made;
    }

    /** Checks what is wrong with an option and its value also for a closed channel. */
    void requireSettable(@Nullable SocketOption<?> option, @Nullable Object value) {
        requireSupported(option);
        if (value == null) {
            throw new IllegalArgumentException("'" + option + "' cannot be null");
        }
    }

    /** Sets an option, also of the TCP channel if there is one. */
    <T> void set(SocketOption<T> option, T value, @Nullable NetworkChannel tcp) throws IOException {
        if (tcp != null && tcp.supportedOptions().contains(option)) {
            tcp.setOption(option, value);
            return;
        }
        ofEndpoint.set(option, value);
        asked.put(option, value);
    }

    /** The value of an option, of the TCP channel if there is one. */
    <T> T get(SocketOption<T> option, @Nullable NetworkChannel tcp) throws IOException {
        return tcp != null && tcp.supportedOptions().contains(option) ? tcp.getOption(option) : ofEndpoint.get(option);
    }

    /** Checks that an option is one of the channel's. */
    void requireSupported(@Nullable SocketOption<?> option) {
        if (option == null) {
            throw new NullPointerException("option");
        }
        if (!supported.contains(option)) {
            throw new UnsupportedOperationException("'" + option + "' not supported");
        }
    }

    /** Sets a TCP channel to what was set here. */
    void applyTo(NetworkChannel tcp) throws IOException {
        for (SocketOption<?> option : asked.keySet()) {
            if (tcp.supportedOptions().contains(option)) {
                apply(option, tcp);
            }
        }
    }

    private <T> void apply(SocketOption<T> option, NetworkChannel tcp) throws IOException {
        tcp.setOption(option, option.type().cast(asked.get(option)));
    }

    /**
     * Closes the endpoint, and lingers as the options say.
     *
     * @param mayWait whether the caller may wait for the peer; else a thread of its own does
     */
    void close(boolean mayWait) {
        Cleaner.Cleanable watch = forgotten;
        if (mayWait || ofEndpoint.get(StandardSocketOptions.SO_LINGER) >= 0) {
            ofEndpoint.close();
        } else {
            endpoint.closeWithoutWaiting();
        }
        if (watch != null) {
            watch.clean();
        }
    }
}
