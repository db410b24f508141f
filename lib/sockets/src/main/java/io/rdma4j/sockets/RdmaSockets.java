package io.rdma4j.sockets;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Factory methods for Java's sockets, channels and selectors over the RDMA devices of this process. The objects behave
 * like those of {@code java.net} and {@code java.nio.channels}. Stream data is written directly into the peer's memory;
 * datagrams are RDMA datagrams. The peer may use this library or rsocket(7). {@link RdmaSocketFactory} has the same
 * methods for the devices of one connection manager. Thread safe.
 */
public final class RdmaSockets {
    private static final RdmaSocketFactory FACTORY = new RdmaSocketFactory(ConnectionService.ofProcess());

    private RdmaSockets() {}

    /**
     * Opens a socket that is neither bound nor connected. It supports the options of {@link Socket} and of
     * {@link RdmaSocketOptions}. Interrupting a virtual thread that is blocked in a call closes the socket. Platform
     * threads ignore interrupts.
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} for IPv4; {@code INET6} for IPv6 and IPv4
     * @throws UnsupportedOperationException for any other family
     */
    public static Socket openSocket(ProtocolFamily family) throws IOException {
        return FACTORY.openSocket(family);
    }

    /**
     * Opens a server socket that is not bound. Accepted connections inherit the sizes of its buffers and queues.
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} for IPv4; {@code INET6} for IPv6 and IPv4
     * @throws UnsupportedOperationException for any other family
     */
    public static ServerSocket openServerSocket(ProtocolFamily family) throws IOException {
        return FACTORY.openServerSocket(family);
    }

    /**
     * Opens a channel that is neither bound nor connected, like {@link SocketChannel#open(ProtocolFamily)}. For
     * streams, use the streams of {@link SocketChannel#socket}. The streams of {@link java.nio.channels.Channels} share
     * a lock, so that a reader and a writer block each other (see {@link RdmaSelectorProvider}).
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} for IPv4; {@code INET6} for IPv6 and IPv4
     * @throws UnsupportedOperationException for any other family
     */
    public static SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return FACTORY.openSocketChannel(family);
    }

    /**
     * Opens a server socket channel that is not bound, like {@link ServerSocketChannel#open(ProtocolFamily)}.
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} for IPv4; {@code INET6} for IPv6 and IPv4
     * @throws UnsupportedOperationException for any other family
     */
    public static ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        return FACTORY.openServerSocketChannel(family);
    }

    /**
     * Opens a datagram channel that is neither bound nor connected, like {@link DatagramChannel#open(ProtocolFamily)}.
     * The peer may be an {@link RdmaDatagramSocket}. The limits of that class apply:
     * <ul>
     *   <li>A datagram has at most 2032 bytes, or 2020 to an IPv6 address ({@link RdmaDatagramSocket#maxBytes}).
     *       Sending a longer one throws an {@link IOException}, "Message too long". A datagram that exceeds the MTU of
     *       the RDMA port is sent over UDP.
     *   <li>Multicast and broadcast are not supported: {@code join} throws {@link UnsupportedOperationException}.
     *   <li>The options are SO_SNDBUF and SO_RCVBUF, which can be set until the channel is bound, SO_REUSEADDR, IP_TOS,
     *       and RDMA_SQSIZE, RDMA_RQSIZE and RDMA_INLINE of {@link RdmaSocketOptions}.
     *   <li>The channel can be registered only with selectors of {@link #openSelector} or of a
     *       {@link RdmaSelectorProvider}.
     * </ul>
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} for IPv4; {@code INET6} for IPv6 and IPv4
     * @throws UnsupportedOperationException for any other family
     */
    public static DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return FACTORY.openDatagramChannel(family);
    }

    /**
     * Opens a selector like {@link Selector#open()}. The selector accepts channels over RDMA and ordinary ones. A
     * thread that blocks in the selector drives the devices of its channels. After the key of an ordinary channel was
     * cancelled, the channel can be made blocking only after the next selection.
     */
    public static Selector openSelector() throws IOException {
        return FACTORY.openSelector();
    }
}
