package io.rdma4j.sockets;

import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.net.RdmaServerSocket;
import io.rdma4j.sockets.net.RdmaSocket;
import io.rdma4j.sockets.nio.RdmaDatagramChannel;
import io.rdma4j.sockets.nio.RdmaServerSocketChannel;
import io.rdma4j.sockets.nio.RdmaSocketChannel;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Java's sockets over RDMA: they do what those of java.net and java.nio.channels do, and their bytes are written straight
 * into the peer's memory, or sent as RDMA's datagrams. The peer is one of these, or a socket of rsocket(7). All methods may
 * be called by any thread.
 */
public final class RdmaSockets {
    private static final RdmaSelectorProvider PROVIDER = new RdmaSelectorProvider(AddressRules.RDMA_ONLY);

    private RdmaSockets() {}

    /**
     * Opens a socket that is neither bound nor connected. It has the options of {@link Socket}, and those of {@link
     * RdmaSocketOptions}. Interrupting a virtual thread that waits for it closes it; platform threads wait on.
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} for IPv4; {@code INET6} for both
     * @throws UnsupportedOperationException if the family is another
     */
    public static Socket openSocket(ProtocolFamily family) throws IOException {
        return new RdmaSocket(SocketFamily.of(family));
    }

    /**
     * Opens a server socket that is not bound. Connections that it accepts have its sizes.
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} for IPv4; {@code INET6} for both
     * @throws UnsupportedOperationException if the family is another
     */
    public static ServerSocket openServerSocket(ProtocolFamily family) throws IOException {
        return new RdmaServerSocket(SocketFamily.of(family));
    }

    /**
     * Opens a channel that is neither bound nor connected: {@link SocketChannel#open(ProtocolFamily)}. Its streams are those
     * of {@link SocketChannel#socket}; the streams of {@link java.nio.channels.Channels} share a lock, so that one waits for
     * the other ({@link RdmaSelectorProvider}).
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} for IPv4; {@code INET6} for both
     * @throws UnsupportedOperationException if the family is another
     */
    public static SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return new RdmaSocketChannel(PROVIDER, AddressRules.RDMA_ONLY, SocketFamily.of(family));
    }

    /**
     * Opens a listening channel that is not bound: {@link ServerSocketChannel#open(ProtocolFamily)}.
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} for IPv4; {@code INET6} for both
     * @throws UnsupportedOperationException if the family is another
     */
    public static ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        return new RdmaServerSocketChannel(PROVIDER, AddressRules.RDMA_ONLY, SocketFamily.of(family));
    }

    /**
     * Opens a datagram channel that is neither bound nor connected: {@link DatagramChannel#open(ProtocolFamily)}. It does
     * what that does, with the limits of {@link RdmaDatagramSocket}, the peer of which it may be:
     *
     * <ul>
     *   <li>A datagram has at most 2032 bytes, 2020 to an address of IPv6 ({@link RdmaDatagramSocket#mostBytes}); sending a
     *       longer one throws an {@link IOException}, "Message too long". One that is longer than the RDMA packets of the
     *       network arrives, but goes over UDP.
     *   <li>There are no groups and no broadcasts: {@code join} throws {@link UnsupportedOperationException}.
     *   <li>Options are SO_SNDBUF and SO_RCVBUF, which count until the channel is bound, SO_REUSEADDR, IP_TOS, and
     *       RDMA_SQSIZE, RDMA_RQSIZE and RDMA_INLINE of {@link RdmaSocketOptions}.
     *   <li>It can be registered with selectors of {@link #openSelector} or of a {@link RdmaSelectorProvider}, no others.
     * </ul>
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} for IPv4; {@code INET6} for both
     * @throws UnsupportedOperationException if the family is another
     */
    public static DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return new RdmaDatagramChannel(PROVIDER, SocketFamily.of(family));
    }

    /**
     * Opens a selector: {@link Selector#open()}. It takes channels over RDMA and ordinary ones. While a thread waits in it,
     * that thread drives the devices of its channels. An ordinary channel whose key was cancelled may block again after the
     * next selection.
     */
    public static Selector openSelector() throws IOException {
        return PROVIDER.openSelector();
    }
}
