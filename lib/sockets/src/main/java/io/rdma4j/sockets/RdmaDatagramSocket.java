package io.rdma4j.sockets;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.DatagramEndpoint;
import io.rdma4j.sockets.io.DatagramEndpointOptions;
import io.rdma4j.sockets.io.DatagramSettings;
import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketEndpoint;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A datagram socket over RDMA with the calls of rsocket(7). C: an {@code rsocket} of type {@code SOCK_DGRAM}. As with
 * UDP, a datagram arrives complete and at most once, or is lost. Datagrams may be reordered, and a receiver that is too
 * slow loses some.
 *
 * <p>A socket has a UDP port, through which it discovers its peers. It sends the first datagram to a peer over UDP, and
 * again one datagram whenever the peer has been silent for two seconds. A datagram that exceeds the MTU of the RDMA
 * port is also sent over UDP. All others are sent from queue pair to queue pair. The port number is used both for UDP
 * and for RDMA, and a firewall must let it pass.
 *
 * <p>Between hosts, the peer must use rdma4j, or librdmacm over InfiniBand. Stock librdmacm cannot use datagram sockets
 * over RoCE, because it creates address handles without a global route.
 *
 * <p>A socket is initially blocking. A blocked call ends when the socket is closed or the thread is interrupted. After
 * {@link #close}, the call throws an {@link IOException}. On an interrupt, the call throws
 * {@link InterruptedIOException}, the interrupt status of the thread stays set, and the socket stays usable. A virtual
 * thread that blocks does not pin its carrier. Thread safe.
 */
public final class RdmaDatagramSocket extends RdmaPollable {

    private final DatagramEndpoint endpoint;
    private final DatagramEndpointOptions options;

    private RdmaDatagramSocket(DatagramEndpoint endpoint) {
        this.endpoint = endpoint;
        options = new DatagramEndpointOptions(endpoint);
    }

    /**
     * Opens a socket. C: {@code rsocket(AF_INET or AF_INET6, SOCK_DGRAM, 0)}; the first address determines the family.
     */
    public static RdmaDatagramSocket open() {
        return open(ConnectionService.ofProcess());
    }

    static RdmaDatagramSocket open(ConnectionService service) {
        return new RdmaDatagramSocket(new DatagramEndpoint(service, DatagramSettings.DEFAULT));
    }

    // ---- settings

    /** Returns the options that {@link #setOption} and {@link #option} support. */
    public static Set<SocketOption<?>> supportedOptions() {
        return DatagramEndpointOptions.SUPPORTED;
    }

    /**
     * Sets an option. {@code SO_SNDBUF}, {@code SO_RCVBUF} and the sizes of {@link RdmaSocketOptions} can be set until
     * the socket is bound. Each datagram takes 2048 bytes of a buffer and one entry of a queue. C: {@code rsetsockopt}.
     *
     * @throws UnsupportedOperationException if the option is not supported
     * @throws IllegalArgumentException if the value is invalid
     * @throws IOException if the option can be set only before the socket is bound
     */
    public <T> RdmaDatagramSocket setOption(SocketOption<T> option, T value) throws IOException {
        options.set(option, value);
        return this;
    }

    /**
     * Returns the value of an option, never null. C: {@code rgetsockopt}.
     *
     * @throws UnsupportedOperationException if the option is not supported
     */
    public <T> T option(SocketOption<T> option) {
        return options.get(option);
    }

    /** Returns the local address and port, or null if the socket is not bound. C: {@code rgetsockname}. */
    public @Nullable InetSocketAddress localAddress() {
        return endpoint.localAddress();
    }

    /** Returns the address of the peer that the socket is connected to, or null. C: {@code rgetpeername}. */
    public @Nullable InetSocketAddress peerAddress() {
        return endpoint.peerAddress();
    }

    /** Returns the maximum number of bytes of a datagram to an address: 2032, or 2020 for IPv6. */
    public static int maxBytes(InetAddress peer) {
        return DatagramEndpoint.maxPayloadBytes(peer);
    }

    // ---- addresses

    /**
     * Binds the socket to a local address. A socket that is not bound is bound by the first call that needs it. C:
     * {@code rbind}.
     *
     * @param local an address of this host, or a wildcard. With a wildcard, routing chooses the source address of each
     *     datagram, as with UDP. Port 0 selects any free port
     * @throws java.net.BindException if the address is not local, or the port is in use for UDP or for RDMA datagrams
     */
    public void bind(InetSocketAddress local) throws IOException {
        endpoint.bind(local);
    }

    /**
     * Restricts the socket to one peer: it sends to this peer and drops datagrams from others. This call sends nothing.
     * C: {@code rconnect}, which does not drop datagrams from others.
     *
     * @throws java.nio.channels.AlreadyConnectedException if the socket is connected
     * @throws IOException if there is no route to the peer, or no RDMA device on the route
     */
    public void connect(InetSocketAddress remote) throws IOException {
        endpoint.connect(remote);
    }

    /**
     * Reverses {@link #connect}; has no effect if the socket is not connected. C: {@code rconnect} with
     * {@code AF_UNSPEC}.
     */
    public void disconnect() throws IOException {
        endpoint.disconnect();
    }

    // ---- data

    /** Sends a datagram like {@link #send(ByteBuffer, Set)} without flags. C: {@code rsend}. */
    public boolean send(ByteBuffer data) throws IOException {
        return send(data, NO_FLAGS);
    }

    /**
     * Sends a datagram to the connected peer. The bytes are copied, so the buffer can be reused immediately. C:
     * {@code rsend}.
     *
     * @return true if the datagram was sent; false, with the buffer unchanged, if the call must not block and no buffer
     *     space is available
     * @throws java.net.PortUnreachableException if no socket was bound to the destination port of an earlier datagram
     * @throws IOException if the datagram is longer than {@link #maxBytes}, or the socket is closed or not connected
     */
    public boolean send(ByteBuffer data, Set<MessageFlag> flags) throws IOException {
        boolean sent = endpoint.send(data);
        while (!sent && waits(flags)) {
            SocketWaits.await(endpoint, Readiness.OUT);
            sent = endpoint.send(data);
        }
        return sent;
    }

    /** Sends a datagram like {@link #sendTo(ByteBuffer, Set, InetSocketAddress)} without flags. C: {@code rsendto}. */
    public boolean sendTo(ByteBuffer data, InetSocketAddress remote) throws IOException {
        return sendTo(data, NO_FLAGS, remote);
    }

    /**
     * Sends a datagram to an address. The bytes are copied, so the buffer can be reused immediately. C:
     * {@code rsendto}.
     *
     * @param remote the address of one socket; multicast groups are not supported
     * @return true if the datagram was sent; false, with the buffer unchanged, if the call must not block and no buffer
     *     space is available
     * @throws java.nio.channels.AlreadyConnectedException if the socket is connected to another peer
     * @throws IOException if the datagram is longer than {@link #maxBytes}, the socket is closed, there is no route to
     *     the peer, or there is no RDMA device on the route
     */
    public boolean sendTo(ByteBuffer data, Set<MessageFlag> flags, InetSocketAddress remote) throws IOException {
        boolean sent = endpoint.send(data, remote);
        while (!sent && waits(flags)) {
            SocketWaits.await(endpoint, Readiness.OUT);
            sent = endpoint.send(data, remote);
        }
        return sent;
    }

    /** Receives a datagram like {@link #receiveFrom(ByteBuffer, Set)} without flags. C: {@code rrecvfrom}. */
    public @Nullable InetSocketAddress receiveFrom(ByteBuffer target) throws IOException {
        return receiveFrom(target, NO_FLAGS);
    }

    /**
     * Receives a datagram. If it does not fit into the buffer, the rest is discarded. C: {@code rrecvfrom}.
     *
     * @param flags {@link MessageFlag#PEEK} leaves the datagram in the socket; {@link MessageFlag#WAIT_ALL} has no
     *     effect
     * @return the address of the sender, or null if the call must not block and no datagram is available
     * @throws java.net.PortUnreachableException if the socket is connected and no socket was bound to the destination
     *     port of an earlier datagram
     * @throws IOException if the socket is closed or not bound
     */
    public @Nullable InetSocketAddress receiveFrom(ByteBuffer target, Set<MessageFlag> flags) throws IOException {
        boolean peek = flags.contains(MessageFlag.PEEK);
        InetSocketAddress from = endpoint.receive(target, peek);
        while (from == null && waits(flags)) {
            SocketWaits.await(endpoint, Readiness.IN);
            from = endpoint.receive(target, peek);
        }
        return from;
    }

    // ---- ending

    /**
     * Closes the socket. Waits at most one second for outstanding sends to complete. Blocked calls of other threads
     * throw an exception. C: {@code rclose}.
     */
    @Override
    public void close() {
        endpoint.close();
    }

    @Override
    SocketEndpoint endpoint() {
        return endpoint;
    }
}
