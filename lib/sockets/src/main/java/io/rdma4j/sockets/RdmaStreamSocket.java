package io.rdma4j.sockets;

import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketEndpoint;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.io.StreamMapping;
import io.rdma4j.sockets.io.StreamOptions;
import io.rdma4j.sockets.io.StreamSettings;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A stream socket over RDMA with the calls of rsocket(7). C: an {@code rsocket} of type {@code SOCK_STREAM}. The wire
 * protocol is librdmacm's, so the peer may be a C program. {@link RdmaSockets} offers the same streams as
 * {@link java.net.Socket} and as channels.
 *
 * <p>A socket is initially blocking. A blocked call ends when the socket is closed or the thread is interrupted. After
 * {@link #close}, the call throws an {@link IOException}. On an interrupt, the call throws
 * {@link InterruptedIOException}, the interrupt status of the thread stays set, and the socket stays usable, as with
 * {@code EINTR} in C. A virtual thread that blocks does not pin its carrier.
 *
 * <p>Thread safe. Concurrent send calls run one after another, so that their data does not interleave. Concurrent
 * receive calls also run one after another.
 */
public final class RdmaStreamSocket extends RdmaPollable {
    private static final Set<MessageFlag> AT_ONCE = Set.of(MessageFlag.DONT_WAIT);

    private final StreamEndpoint endpoint;
    private final StreamOptions options;
    private final ReentrantLock sending = new ReentrantLock();
    private final ReentrantLock receiving = new ReentrantLock();

    private RdmaStreamSocket(StreamEndpoint endpoint, @Nullable RdmaStreamSocket listener) {
        this.endpoint = endpoint;
        options = listener == null ? new StreamOptions(endpoint) : new StreamOptions(endpoint, listener.options);
        configureBlocking(listener == null || listener.isBlocking());
    }

    /** Opens a socket. C: {@code rsocket(AF_INET or AF_INET6, SOCK_STREAM, 0)}; the address determines the family. */
    public static RdmaStreamSocket open() {
        return open(ConnectionService.ofProcess());
    }

    static RdmaStreamSocket open(ConnectionService service) {
        return new RdmaStreamSocket(new StreamEndpoint(service, StreamSettings.DEFAULT), null);
    }

    // ---- settings

    /** Returns the options that {@link #setOption} and {@link #option} support. */
    public static Set<SocketOption<?>> supportedOptions() {
        return StreamOptions.SUPPORTED;
    }

    /**
     * Sets an option. {@code SO_SNDBUF}, {@code SO_RCVBUF} and the sizes of {@link RdmaSocketOptions} apply to later
     * connections. An accepted connection inherits them from its listener. A buffer is limited to 64 MiB, even if more
     * is requested. With {@code SO_KEEPALIVE}, the socket sends an empty write every {@code TCP_KEEPIDLE} seconds. It
     * resets the connection if the peer has not answered the write within {@code TCP_KEEPINTERVAL} times
     * {@code TCP_KEEPCOUNT} seconds. The queue pair gives up an unresponsive peer after 69 seconds in any case.
     * {@code TCP_NODELAY}, {@code SO_LINGER} and {@code SO_REUSEPORT} are stored and have no effect. C:
     * {@code rsetsockopt}.
     *
     * @throws UnsupportedOperationException if the option is not supported
     * @throws IllegalArgumentException if the value is invalid or null
     * @throws IOException if the option can be set only before the socket is connected (C: {@code EINVAL})
     */
    public <T extends @Nullable Object> RdmaStreamSocket setOption(SocketOption<T> option, T value) throws IOException {
        options.set(option, value);
        return this;
    }

    /**
     * Returns the value of an option. It is null for one option in one case: {@link RdmaSocketOptions#RDMA_ROUTE}, if
     * no route was set. C: {@code rgetsockopt}.
     *
     * @throws UnsupportedOperationException if the option is not supported
     */
    public <T extends @Nullable Object> T option(SocketOption<T> option) {
        return options.get(option);
    }

    /** Returns the local address and port, or null if there is none. C: {@code rgetsockname}. */
    public @Nullable InetSocketAddress localAddress() {
        return endpoint.localAddress();
    }

    /** Returns the address and port of the peer, or null if there is none. C: {@code rgetpeername}. */
    public @Nullable InetSocketAddress peerAddress() {
        return endpoint.peerAddress();
    }

    // ---- connections

    /**
     * Binds the socket to a local address; port 0 selects any free port. C: {@code rbind}.
     *
     * @throws java.net.BindException if the address is not local or the port is in use
     */
    public void bind(InetSocketAddress local) throws IOException {
        endpoint.bind(local);
    }

    /**
     * Listens for connections. Requests are accepted while fewer than {@code backlog} established connections wait for
     * {@link #accept}. Separate limits apply to connections that the peer has not yet confirmed. C: {@code rlisten}.
     */
    public void listen(int backlog) throws IOException {
        endpoint.listen(backlog);
    }

    /**
     * Accepts a connection; waits for one if this socket is blocking. C: {@code raccept}.
     *
     * @return the connection, or null if this socket is non-blocking and no connection is available
     * @throws SocketException if the socket does not listen or is closed
     */
    public @Nullable RdmaStreamSocket accept() throws IOException {
        requireListening();
        StreamEndpoint next = endpoint.accept();
        while (next == null && isBlocking()) {
            SocketWaits.await(endpoint, Readiness.IN);
            requireListening();
            next = endpoint.accept();
        }
        return next == null ? null : new RdmaStreamSocket(next, this);
    }

    private void requireListening() throws IOException {
        if (endpoint.state() != StreamEndpoint.State.LISTENING) {
            throw new SocketException(
                    endpoint.state() == StreamEndpoint.State.CLOSED
                            ? "Socket closed"
                            : "Invalid argument (the socket does not listen)");
        }
    }

    /**
     * Connects to a server. C: {@code rconnect}.
     *
     * @return true if the socket is connected; false if it is non-blocking and the attempt continues
     *     ({@code EINPROGRESS}). {@link PollEvents#OUT} reports the end of the attempt, and {@link #finishConnect} its
     *     result, even if it failed immediately
     * @throws java.net.ConnectException if the socket is blocking and no socket listens at the address, or the peer
     *     does not respond
     */
    public boolean connect(InetSocketAddress remote) throws IOException {
        endpoint.startConnect(remote);
        if (!isBlocking()) {
            return endpoint.state() == StreamEndpoint.State.CONNECTED;
        }
        while (!endpoint.finishConnect()) {
            SocketWaits.await(endpoint, Readiness.OUT);
        }
        return true;
    }

    /**
     * Returns whether the attempt to connect has succeeded. C: {@code rgetsockopt} with {@code SO_ERROR}.
     *
     * @return false while the attempt continues
     * @throws IOException if the attempt has failed, or the socket is closed
     */
    public boolean finishConnect() throws IOException {
        return endpoint.finishConnect();
    }

    // ---- data

    /** Receives bytes like {@link #receive(ByteBuffer, Set)} without flags. C: {@code rrecv}, {@code rread}. */
    public int receive(ByteBuffer target) throws IOException {
        return receive(target, NO_FLAGS);
    }

    /**
     * Receives the available bytes; waits for some if the socket is blocking. C: {@code rrecv}.
     *
     * @return the number of bytes received; 0 if none are available, {@code target} has no space, or the call must not
     *     block while another thread receives; -1 at end of stream
     * @throws IOException "Connection reset" if the connection was lost, or ended without an end of stream from the
     *     peer. Bytes that arrived before that are returned first
     */
    public int receive(ByteBuffer target, Set<MessageFlag> flags) throws IOException {
        boolean wait = waits(flags);
        if (!SocketWaits.enter(receiving, wait)) {
            return 0;
        }
        try {
            boolean peek = flags.contains(MessageFlag.PEEK);
            boolean all = wait && !peek && flags.contains(MessageFlag.WAIT_ALL);
            int begin = target.position();
            int count = receiveOnce(target, peek, wait);
            while (all && count > 0 && target.hasRemaining()) {
                count = receiveRest(target);
            }
            return target.position() > begin ? target.position() - begin : count;
        } finally {
            receiving.unlock();
        }
    }

    private int receiveOnce(ByteBuffer target, boolean peek, boolean wait) throws IOException {
        int count = peek ? endpoint.peek(target) : endpoint.read(target);
        while (count == 0 && wait && target.hasRemaining()) {
            SocketWaits.await(endpoint, Readiness.IN);
            count = peek ? endpoint.peek(target) : endpoint.read(target);
        }
        return count;
    }

    /** Receives more bytes after some were received. If that fails, the next call reports the error. */
    private int receiveRest(ByteBuffer target) {
        try {
            return receiveOnce(target, false, true);
        } catch (IOException later) {
            return -1;
        }
    }

    /** Sends bytes like {@link #send(ByteBuffer, Set)} without flags. C: {@code rsend}, {@code rwrite}. */
    public int send(ByteBuffer source) throws IOException {
        return send(source, NO_FLAGS);
    }

    /**
     * Sends all bytes if the socket is blocking, otherwise as many as fit into the send buffer. The bytes are copied,
     * so {@code source} can be reused immediately. C: {@code rsend}.
     *
     * @return the number of bytes sent. If the connection is lost during a blocking call, it is less than requested,
     *     and the next call throws
     * @throws IOException if the connection, or the output of this side, has ended
     */
    public int send(ByteBuffer source, Set<MessageFlag> flags) throws IOException {
        boolean wait = waits(flags);
        if (!SocketWaits.enter(sending, wait)) {
            return 0;
        }
        int begin = source.position();
        try {
            sendFrom(source, wait);
        } catch (IOException failed) {
            if (source.position() == begin) {
                throw failed;
            }
        } finally {
            sending.unlock();
        }
        return source.position() - begin;
    }

    private void sendFrom(ByteBuffer source, boolean wait) throws IOException {
        endpoint.write(source);
        while (wait && source.hasRemaining()) {
            SocketWaits.await(endpoint, Readiness.OUT);
            endpoint.write(source);
        }
    }

    /**
     * Receives into several buffers in sequence. With {@link MessageFlag#PEEK}, only the first buffer that has space is
     * filled. C: {@code rreadv}, {@code rrecvmsg}, which fill only the first buffer.
     *
     * @return the number of bytes received; 0 if none are available or no buffer has space; -1 at end of stream
     * @throws IOException as {@link #receive(ByteBuffer, Set)}
     */
    public long receive(ByteBuffer[] targets, Set<MessageFlag> flags) throws IOException {
        if (!SocketWaits.enter(receiving, waits(flags))) {
            return 0;
        }
        try {
            long total = 0;
            for (ByteBuffer target : targets) {
                if (!target.hasRemaining()) {
                    continue;
                }
                int count = total == 0 ? receive(target, flags) : receiveMore(target, flags);
                if (count <= 0) {
                    return total == 0 ? count : total;
                }
                total += count;
                if (target.hasRemaining() || flags.contains(MessageFlag.PEEK)) {
                    return total;
                }
            }
            return total;
        } finally {
            receiving.unlock();
        }
    }

    private int receiveMore(ByteBuffer target, Set<MessageFlag> flags) {
        try {
            return receive(target, flags.contains(MessageFlag.WAIT_ALL) ? flags : AT_ONCE);
        } catch (IOException later) {
            return -1;
        }
    }

    /**
     * Sends from several buffers in sequence. C: {@code rwritev}, {@code rsendmsg}.
     *
     * @return the number of bytes sent; see {@link #send(ByteBuffer, Set)}
     * @throws IOException as {@link #send(ByteBuffer, Set)}
     */
    public long send(ByteBuffer[] sources, Set<MessageFlag> flags) throws IOException {
        boolean wait = waits(flags);
        if (!SocketWaits.enter(sending, wait)) {
            return 0;
        }
        long total = 0;
        try {
            for (ByteBuffer source : sources) {
                int begin = source.position();
                try {
                    sendFrom(source, wait);
                } finally {
                    total += source.position() - begin;
                }
                if (source.hasRemaining()) {
                    break;
                }
            }
        } catch (IOException failed) {
            if (total == 0) {
                throw failed;
            }
        } finally {
            sending.unlock();
        }
        return total;
    }

    // ---- mapped memory

    /**
     * Lets the peer write to memory of this process. The socket must be connected, and the peer must have a free
     * mapping entry ({@link RdmaSocketOptions#RDMA_IOMAPSIZE}). The peer is notified before the next bytes that this
     * side sends. C: {@code riomap} with {@code PROT_WRITE}.
     *
     * @param memory native memory, which must stay valid as long as the mapping exists
     * @param offset the offset by which the peer addresses the first byte; -1 to use the address of that byte
     * @throws IOException if the peer has no free mapping entry (C: {@code ENOMEM}), or the socket is not connected
     */
    public MappedMemory map(MemorySegment memory, long offset) throws IOException {
        return new MappedMemory(memory, StreamMapping.of(endpoint, memory, offset));
    }

    /**
     * Writes to memory that the peer has mapped. Writes all bytes if the socket is blocking, otherwise as many as fit
     * into the send buffer. The bytes reach the peer's memory before any bytes that are sent later. C:
     * {@code riowrite}.
     *
     * @param offset the destination as an offset of the peer's mappings
     * @return the number of bytes written, which is less than requested if the mapping ends; -1 if nothing is mapped at
     *     {@code offset}
     * @throws IOException if the connection, or the output of this side, has ended
     */
    public int writeMapped(ByteBuffer source, long offset, Set<MessageFlag> flags) throws IOException {
        boolean wait = waits(flags);
        if (!SocketWaits.enter(sending, wait)) {
            return 0;
        }
        int begin = source.position();
        try {
            int count = endpoint.writeMapped(source, offset);
            while (wait && count >= 0 && source.hasRemaining()) {
                SocketWaits.await(endpoint, Readiness.OUT);
                count = endpoint.writeMapped(source, offset + source.position() - begin);
            }
            return source.position() == begin ? count : source.position() - begin;
        } catch (IOException failed) {
            if (source.position() == begin) {
                throw failed;
            }
            return source.position() - begin;
        } finally {
            sending.unlock();
        }
    }

    // ---- ending

    /** Ends the input of this side; the peer is not notified. C: {@code rshutdown} with {@code SHUT_RD}. */
    public void shutdownInput() throws IOException {
        endpoint.shutdownInput();
    }

    /**
     * Ends the output of this side. The peer can receive all bytes sent before. C: {@code rshutdown} with
     * {@code SHUT_WR}.
     */
    public void shutdownOutput() throws IOException {
        endpoint.shutdownOutput();
    }

    /**
     * Closes the socket and waits until the peer has received all sent bytes. The wait ends early if the connection
     * breaks; an unresponsive peer is detected after up to 69 seconds. If the peer responds but accepts no data, the
     * wait ends after 70 seconds. The process may exit as soon as this method has returned. Blocked calls of other
     * threads throw an exception. C: {@code rclose}, which also waits.
     */
    @Override
    public void close() {
        endpoint.closeAndWait();
    }

    @Override
    SocketEndpoint endpoint() {
        return endpoint;
    }
}
