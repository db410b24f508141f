package io.rdma4j.sockets.io;

import static java.net.StandardSocketOptions.IP_TOS;
import static java.net.StandardSocketOptions.SO_RCVBUF;
import static java.net.StandardSocketOptions.SO_REUSEADDR;
import static java.net.StandardSocketOptions.SO_SNDBUF;

import io.rdma4j.sockets.datagram.DatagramSizes;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.util.Set;

/** The options of a datagram socket as {@link SocketOption}s. Thread safe. */
public final class DatagramEndpointOptions {
    /** The options that can be set and read. */
    public static final Set<SocketOption<?>> SUPPORTED = Set.of(
            SO_SNDBUF,
            SO_RCVBUF,
            SO_REUSEADDR,
            IP_TOS,
            RdmaSocketOptions.RDMA_SQSIZE,
            RdmaSocketOptions.RDMA_RQSIZE,
            RdmaSocketOptions.RDMA_INLINE);

    /** librdmacm, like Linux, doubles the requested buffer size. */
    private static final int BUFFER_FACTOR = 2;

    private static final int MAX_TYPE_OF_SERVICE = 0xff;

    private final DatagramEndpoint endpoint;

    /** Creates the options of an endpoint. */
    public DatagramEndpointOptions(DatagramEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /**
     * Sets an option. Buffer sizes and {@code SO_REUSEADDR} are ignored if the socket is bound.
     *
     * @throws UnsupportedOperationException if it is not among {@link #SUPPORTED}
     * @throws IllegalArgumentException if the value is invalid
     * @throws SocketException if the option can be set only before the socket is bound
     */
    public synchronized <T> void set(SocketOption<T> option, T value) throws IOException {
        requireSupported(option);
        DatagramSettings now = endpoint.settings();
        if (option.equals(SO_REUSEADDR) && value instanceof Boolean flag) {
            if (!endpoint.isBound()) {
                endpoint.settings(now.withReuseAddress(flag));
            }
        } else if (value instanceof Integer number && number >= 0) {
            setNumber(option, number, now);
        } else {
            throw new IllegalArgumentException(option + " cannot be " + value);
        }
    }

    private void setNumber(SocketOption<?> option, int value, DatagramSettings now) throws IOException {
        if (option.equals(IP_TOS)) {
            if (value > MAX_TYPE_OF_SERVICE) {
                throw new IllegalArgumentException(option + " cannot be " + value + ": it has 8 bits");
            }
            endpoint.settings(now.withTypeOfService(value));
        } else if (option.equals(SO_SNDBUF) || option.equals(SO_RCVBUF)) {
            if (!endpoint.isBound()) {
                endpoint.settings(now.withSizes(resized(option, value, now.sizes())));
            }
        } else {
            requireUnbound(option);
            endpoint.settings(now.withSizes(resized(option, value, now.sizes())));
        }
    }

    private void requireUnbound(SocketOption<?> option) throws SocketException {
        if (endpoint.isBound()) {
            throw new SocketException("Invalid argument (" + option + " must be set before the socket is bound)");
        }
    }

    private static DatagramSizes resized(SocketOption<?> option, int value, DatagramSizes now) {
        int queue = Math.clamp(value, 1, DatagramSizes.MAX_QUEUE);
        int buffer = Math.clamp((long) value * BUFFER_FACTOR, DatagramSizes.SLOT_BYTES, Integer.MAX_VALUE);
        return new DatagramSizes(
                option.equals(RdmaSocketOptions.RDMA_SQSIZE) ? queue : now.sendQueue(),
                option.equals(RdmaSocketOptions.RDMA_RQSIZE) ? queue : now.receiveQueue(),
                option.equals(SO_SNDBUF) ? buffer : now.sendBufferBytes(),
                option.equals(SO_RCVBUF) ? buffer : now.receiveBufferBytes(),
                option.equals(RdmaSocketOptions.RDMA_INLINE) ? value : now.inlineBytes());
    }

    /**
     * Returns the value of an option. The value of a buffer size is half of the buffer, as requested.
     *
     * @throws UnsupportedOperationException if it is not among {@link #SUPPORTED}
     */
    public <T> T get(SocketOption<T> option) {
        requireSupported(option);
        return option.type().cast(value(option));
    }

    private Object value(SocketOption<?> option) {
        DatagramSettings now = endpoint.settings();
        DatagramSizes sizes = now.sizes();
        if (option.equals(SO_REUSEADDR)) {
            return now.reuseAddress();
        } else if (option.equals(IP_TOS)) {
            return now.typeOfService();
        } else if (option.equals(SO_SNDBUF)) {
            return sizes.sendBufferBytes() / BUFFER_FACTOR;
        } else if (option.equals(SO_RCVBUF)) {
            return sizes.receiveBufferBytes() / BUFFER_FACTOR;
        } else if (option.equals(RdmaSocketOptions.RDMA_SQSIZE)) {
            return sizes.sendQueue();
        } else if (option.equals(RdmaSocketOptions.RDMA_RQSIZE)) {
            return sizes.receiveQueue();
        }
        return sizes.inlineBytes();
    }

    private static void requireSupported(SocketOption<?> option) {
        if (!SUPPORTED.contains(option)) {
            throw new UnsupportedOperationException("RDMA datagram sockets have no option " + option);
        }
    }
}
