package io.rdma4j.sockets;

import io.rdma4j.sockets.io.DatagramEndpoint;
import io.rdma4j.sockets.io.DatagramOptions;
import io.rdma4j.sockets.io.DatagramSettings;
import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.Waitable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Datagrams over RDMA, by the calls of rsocket(7): what librdmacm's {@code rsocket} of type {@code SOCK_DGRAM} is. As with
 * UDP a datagram arrives whole, once, or not at all, and datagrams may overtake each other; a receiver that is too slow loses
 * some.
 *
 * <p>A socket has a UDP port, over which it finds its peers: the first datagram to a peer goes there, all others from queue
 * pair to queue pair. A datagram that is longer than the network's RDMA packets goes over UDP too. The port is taken in both
 * worlds, UDP and RDMA, and a firewall must let it through.
 *
 * <p>Between hosts this needs rdma4j, or librdmacm over InfiniBand, at both ends: stock librdmacm cannot use datagram sockets
 * over RoCE, because it makes address handles without a global route.
 *
 * <p>A socket begins blocking. A thread that waits in a call is released by {@link #close} (the call throws) and by an
 * interrupt: the call throws {@link InterruptedIOException}, the thread's interrupt status stays set, and the socket lives
 * on. A virtual thread that waits does not hold its carrier. Thread safe.
 */
public final class RdmaDatagramSocket implements AutoCloseable {
    private static final Set<MessageFlag> NO_FLAGS = Set.of();

    private final DatagramEndpoint endpoint = new DatagramEndpoint(DatagramSettings.DEFAULT);
    private final DatagramOptions options = new DatagramOptions(endpoint);
    private volatile boolean blocking = true;

    private RdmaDatagramSocket() {}

    /** Makes a socket. C: {@code rsocket(AF_INET or AF_INET6, SOCK_DGRAM, 0)}; the first address tells the family. */
    public static RdmaDatagramSocket open() {
        return new RdmaDatagramSocket();
    }

    // ---- settings

    /** Has its calls wait, or return at once. C: {@code rfcntl} with {@code O_NONBLOCK}. */
    public void configureBlocking(boolean value) {
        blocking = value;
    }

    /** Whether its calls wait. */
    public boolean isBlocking() {
        return blocking;
    }

    /** What {@link #setOption} and {@link #option} know. */
    public static Set<SocketOption<?>> supportedOptions() {
        return DatagramOptions.SUPPORTED;
    }

    /**
     * Sets an option. {@code SO_SNDBUF}, {@code SO_RCVBUF} and the sizes of {@link RdmaSocketOptions} count until the socket
     * is bound; each datagram takes 2048 bytes of a buffer and an entry of a queue. C: {@code rsetsockopt}.
     *
     * @throws UnsupportedOperationException if there is no such option
     * @throws IllegalArgumentException if it cannot have that value
     * @throws IOException if it can be set only before the socket is bound
     */
    public <T> RdmaDatagramSocket setOption(SocketOption<T> option, T value) throws IOException {
        options.set(option, value);
        return this;
    }

    /** The value of an option. C: {@code rgetsockopt}. */
    public <T> T option(SocketOption<T> option) {
        return options.get(option);
    }

    /** Its address and port, or null while it has none. C: {@code rgetsockname}. */
    public @Nullable InetSocketAddress localAddress() {
        return endpoint.localAddress();
    }

    /** Whom it is connected to, or null. C: {@code rgetpeername}. */
    public @Nullable InetSocketAddress peerAddress() {
        return endpoint.peerAddress();
    }

    /** Most bytes of a datagram to an address: 2032, or 2020 to one of IPv6. */
    public static int mostBytes(InetAddress peer) {
        return DatagramEndpoint.mostPayloadBytes(peer);
    }

    // ---- addresses

    /**
     * Binds it to a local address; port 0 for any. A socket that is not bound is so by the first call that needs it. C:
     * {@code rbind}.
     *
     * @param local an address of this host, or a wildcard: then what it sends leaves from the address that routing chooses,
     *     as with UDP
     * @throws java.net.BindException if the address is not of this host, or the port is in use for UDP or for datagrams of
     *     RDMA
     */
    public void bind(InetSocketAddress local) throws IOException {
        endpoint.bind(local);
    }

    /**
     * Sends to one peer from now on, and receives from no other; nothing is sent by this. C: {@code rconnect}, which does not
     * keep others' datagrams away.
     *
     * @throws java.nio.channels.AlreadyConnectedException if it is connected
     * @throws IOException if there is no way there, or no RDMA device on it
     */
    public void connect(InetSocketAddress remote) throws IOException {
        endpoint.connect(remote);
    }

    /** Takes {@link #connect} back, if it is connected. C: {@code rconnect} with {@code AF_UNSPEC}. */
    public void disconnect() throws IOException {
        endpoint.disconnect();
    }

    // ---- data

    /** Sends as {@link #send(ByteBuffer, Set)} without flags. C: {@code rsend}. */
    public boolean send(ByteBuffer data) throws IOException {
        return send(data, NO_FLAGS);
    }

    /**
     * Sends a datagram to the peer that the socket is connected to. Its bytes are copied. C: {@code rsend}.
     *
     * @return whether it was sent; false, with the buffer as it was, if the call must not wait and there is no room
     * @throws java.net.PortUnreachableException if nobody received an earlier one
     * @throws IOException if it is longer than {@link #mostBytes}, or the socket is not connected
     */
    public boolean send(ByteBuffer data, Set<MessageFlag> flags) throws IOException {
        boolean sent = endpoint.send(data);
        while (!sent && waits(flags)) {
            SocketWaits.await(endpoint, Readiness.OUT);
            sent = endpoint.send(data);
        }
        return sent;
    }

    /** Sends as {@link #sendTo(ByteBuffer, Set, InetSocketAddress)} without flags. C: {@code rsendto}. */
    public boolean sendTo(ByteBuffer data, InetSocketAddress remote) throws IOException {
        return sendTo(data, NO_FLAGS, remote);
    }

    /**
     * Sends a datagram. Its bytes are copied. C: {@code rsendto}.
     *
     * @param remote one socket's address: there are no groups
     * @return whether it was sent; false, with the buffer as it was, if the call must not wait and there is no room
     * @throws java.nio.channels.AlreadyConnectedException if the socket is connected to somebody else
     * @throws IOException if it is longer than {@link #mostBytes}, or there is no way there, or no RDMA device on it
     */
    public boolean sendTo(ByteBuffer data, Set<MessageFlag> flags, InetSocketAddress remote) throws IOException {
        boolean sent = endpoint.send(data, remote);
        while (!sent && waits(flags)) {
            SocketWaits.await(endpoint, Readiness.OUT);
            sent = endpoint.send(data, remote);
        }
        return sent;
    }

    /** Receives as {@link #receiveFrom(ByteBuffer, Set)} without flags. C: {@code rrecvfrom}. */
    public @Nullable InetSocketAddress receiveFrom(ByteBuffer target) throws IOException {
        return receiveFrom(target, NO_FLAGS);
    }

    /**
     * Receives a datagram: as much of it as fits into the buffer; the rest is lost. C: {@code rrecvfrom}.
     *
     * @param flags {@link MessageFlag#PEEK} leaves it to be received again; {@link MessageFlag#WAIT_ALL} means nothing
     * @return who sent it; null if the call must not wait and there is none
     * @throws java.net.PortUnreachableException if the socket is connected and nobody received what was sent
     * @throws IOException if the socket is not bound
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

    private boolean waits(Set<MessageFlag> flags) {
        return blocking && !flags.contains(MessageFlag.DONT_WAIT);
    }

    // ---- waiting and ending

    /**
     * Waits until it is ready for something. C: {@code rpoll} of one socket.
     *
     * @param events a set of {@link PollEvents}
     * @param timeout how long; zero only looks, null waits for ever
     * @return which of them, and whether it has failed or is closed; 0 when the time is over
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public int await(int events, @Nullable Duration timeout) throws InterruptedIOException {
        return SocketWaits.poll(endpoint, events, timeout);
    }

    /** Whether {@link #close} was called. */
    public boolean isClosed() {
        return endpoint.isClosed();
    }

    /** Closes it. What was sent goes first. Calls of other threads end with an exception. C: {@code rclose}. */
    @Override
    public void close() {
        endpoint.close();
    }

    /** For {@link RdmaPoll}. */
    Waitable endpoint() {
        return endpoint;
    }
}
