package io.rdma4j.sockets;

import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.io.StreamMapping;
import io.rdma4j.sockets.io.StreamOptions;
import io.rdma4j.sockets.io.StreamSettings;
import io.rdma4j.sockets.io.Waitable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A stream of bytes over RDMA, by the calls of rsocket(7): on the wire it is what librdmacm's {@code rsocket} of type
 * {@code SOCK_STREAM} is, so either end may be a C program. Java programs that expect {@link java.net.Socket} or channels
 * have those of {@code RdmaSockets}.
 *
 * <p>A socket begins blocking. A thread that waits in a call is released by {@link #close} (the call throws) and by an
 * interrupt: the call throws {@link InterruptedIOException}, the thread's interrupt status stays set, and the socket lives
 * on, as with {@code EINTR} in C. A virtual thread that waits does not hold its carrier. Thread safe; of several threads that
 * send (or receive) with one call each, one waits for the other, so messages do not mix.
 */
public final class RdmaStreamSocket implements AutoCloseable {
    private static final Set<MessageFlag> NO_FLAGS = Set.of();
    private static final Set<MessageFlag> AT_ONCE = Set.of(MessageFlag.DONT_WAIT);

    private final StreamEndpoint endpoint;
    private final StreamOptions options;
    private final ReentrantLock sending = new ReentrantLock();
    private final ReentrantLock receiving = new ReentrantLock();
    private volatile boolean blocking = true;

    private RdmaStreamSocket(StreamEndpoint endpoint, @Nullable RdmaStreamSocket listener) {
        this.endpoint = endpoint;
        options = listener == null ? new StreamOptions(endpoint) : new StreamOptions(endpoint, listener.options);
        blocking = listener == null || listener.blocking;
    }

    /** Makes a socket. C: {@code rsocket(AF_INET or AF_INET6, SOCK_STREAM, 0)}; the address tells the family. */
    public static RdmaStreamSocket open() {
        return new RdmaStreamSocket(new StreamEndpoint(StreamSettings.DEFAULT), null);
    }

    // ---- settings

    /** Has its calls wait, or return at once with what can be done now. C: {@code rfcntl} with {@code O_NONBLOCK}. */
    public void configureBlocking(boolean value) {
        blocking = value;
    }

    /** Whether its calls wait. */
    public boolean isBlocking() {
        return blocking;
    }

    /** What {@link #setOption} and {@link #option} know. */
    public static Set<SocketOption<?>> supportedOptions() {
        return StreamOptions.SUPPORTED;
    }

    /**
     * Sets an option. {@code SO_SNDBUF}, {@code SO_RCVBUF} and the sizes of {@link RdmaSocketOptions} count for connections
     * to come; a connection that is accepted has those of its listener. A buffer has 64 MiB at most, however large it is
     * asked for. {@code SO_KEEPALIVE} sends an empty write every
     * {@code TCP_KEEPIDLE} seconds. {@code TCP_NODELAY} and {@code SO_LINGER} are kept and change nothing. C: {@code
     * rsetsockopt}.
     *
     * @throws UnsupportedOperationException if there is no such option
     * @throws IllegalArgumentException if it cannot have that value
     * @throws IOException if it can be set only before the socket is connected (C: {@code EINVAL})
     */
    public <T> RdmaStreamSocket setOption(SocketOption<T> option, T value) throws IOException {
        options.set(option, value);
        return this;
    }

    /** The value of an option; null for {@link RdmaSocketOptions#RDMA_ROUTE} if nobody chose one. C: {@code rgetsockopt}. */
    public <T> T option(SocketOption<T> option) {
        return options.get(option);
    }

    /** Its address and port, or null while it has none. C: {@code rgetsockname}. */
    public @Nullable InetSocketAddress localAddress() {
        return endpoint.localAddress();
    }

    /** The peer's address and port, or null while there is none. C: {@code rgetpeername}. */
    public @Nullable InetSocketAddress peerAddress() {
        return endpoint.peerAddress();
    }

    // ---- connections

    /**
     * Binds it to a local address; port 0 for any. C: {@code rbind}.
     *
     * @throws java.net.BindException if the address is not of this host or the port is in use
     */
    public void bind(InetSocketAddress local) throws IOException {
        endpoint.bind(local);
    }

    /**
     * Takes connections from now on. Requests are answered while fewer than {@code backlog} connections are established that
     * nobody has accepted; answers that peers have not confirmed have bounds of their own. C: {@code rlisten}.
     */
    public void listen(int backlog) throws IOException {
        endpoint.listen(backlog);
    }

    /**
     * Takes a connection. It blocks if this socket does. C: {@code raccept}.
     *
     * @return null if this socket does not block and there is none
     */
    public @Nullable RdmaStreamSocket accept() throws IOException {
        requireListening();
        StreamEndpoint next = endpoint.accept();
        while (next == null && blocking) {
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
     * @return whether the socket is connected; one that does not block may be later ({@code EINPROGRESS}): {@link
     *     PollEvents#OUT} tells the end of the attempt and {@link #finishConnect} its success, however soon it failed
     * @throws java.net.ConnectException if the socket blocks and nobody listens there or nobody answers
     */
    public boolean connect(InetSocketAddress remote) throws IOException {
        endpoint.startConnect(remote);
        if (!blocking) {
            return endpoint.state() == StreamEndpoint.State.CONNECTED;
        }
        while (!endpoint.finishConnect()) {
            SocketWaits.await(endpoint, Readiness.OUT);
        }
        return true;
    }

    /**
     * Whether the attempt to connect has succeeded; throws why it failed. C: {@code rgetsockopt} with {@code SO_ERROR}.
     *
     * @return false while it goes on
     */
    public boolean finishConnect() throws IOException {
        return endpoint.finishConnect();
    }

    // ---- data

    /** Receives as {@link #receive(ByteBuffer, Set)} without flags. C: {@code rrecv}, {@code rread}. */
    public int receive(ByteBuffer target) throws IOException {
        return receive(target, NO_FLAGS);
    }

    /**
     * Receives what is there; waits for it if the socket blocks. C: {@code rrecv}.
     *
     * @return how many bytes; 0 if there is nothing now, or no room in {@code target}; -1 if nothing more will come
     * @throws IOException "Connection reset" if the connection was lost, or ended without the peer's word that nothing more
     *     comes; what came before can be received first
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

    /** What was received counts more than what goes wrong after it: the next call finds that. */
    private int receiveRest(ByteBuffer target) {
        try {
            return receiveOnce(target, false, true);
        } catch (IOException later) {
            return -1;
        }
    }

    /** Sends as {@link #send(ByteBuffer, Set)} without flags. C: {@code rsend}, {@code rwrite}. */
    public int send(ByteBuffer source) throws IOException {
        return send(source, NO_FLAGS);
    }

    /**
     * Sends: all of it if the socket blocks, else what there is room for now. The bytes are copied: {@code source} can be
     * used again at once. C: {@code rsend}.
     *
     * @return how many bytes; less than there are also if the connection was lost on the way, which the next call tells
     * @throws IOException if the connection has ended, or this side's output
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
     * Receives into several buffers, one after the other. With {@link MessageFlag#PEEK} only the first that has room gets
     * bytes. C: {@code rreadv}, {@code rrecvmsg}, which fill the first buffer only.
     *
     * @return how many bytes; 0 if there is nothing now, or no room; -1 if nothing more will come
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
     * Sends from several buffers, one after the other. C: {@code rwritev}, {@code rsendmsg}.
     *
     * @return how many bytes; see {@link #send(ByteBuffer, Set)}
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
     * Lets the peer write to memory of this process; the socket must be connected and the peer have a place for it ({@link
     * RdmaSocketOptions#RDMA_IOMAPSIZE}). The peer hears of it before the next bytes that this side sends. C: {@code riomap}
     * with {@code PROT_WRITE}.
     *
     * @param memory native memory, which must live as long as the mapping
     * @param offset by which the peer knows its first byte; -1 for its address
     * @throws IOException if the peer has no place for it (C: {@code ENOMEM}), or the socket is not connected
     */
    public MappedMemory map(MemorySegment memory, long offset) throws IOException {
        return new MappedMemory(memory, StreamMapping.of(endpoint, memory, offset));
    }

    /**
     * Writes into memory that the peer has mapped: all of it if the socket blocks, else what there is room for now. What is
     * written is there before what is sent after it. C: {@code riowrite}.
     *
     * @param offset where, as the peer's mappings count
     * @return how many bytes; less than there are also where the mapping ends; -1 if nothing is mapped at {@code offset}
     * @throws IOException if the connection has ended, or this side's output
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

    private boolean waits(Set<MessageFlag> flags) {
        return blocking && !flags.contains(MessageFlag.DONT_WAIT);
    }

    // ---- waiting and ending

    /**
     * Waits until it is ready for something. C: {@code rpoll} of one socket.
     *
     * @param events a set of {@link PollEvents}
     * @param timeout how long; zero only looks, null waits for ever
     * @return which of them, and whether it has failed or ended; 0 when the time is over
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public int await(int events, @Nullable Duration timeout) throws InterruptedIOException {
        return SocketWaits.poll(endpoint, events, timeout);
    }

    /** Receives no more; the peer is not told. C: {@code rshutdown} with {@code SHUT_RD}. */
    public void shutdownInput() throws IOException {
        endpoint.shutdownInput();
    }

    /** Sends no more; the peer receives to the end of what was sent. C: {@code rshutdown} with {@code SHUT_WR}. */
    public void shutdownOutput() throws IOException {
        endpoint.shutdownOutput();
    }

    /** Whether {@link #close} was called. */
    public boolean isClosed() {
        return endpoint.state() == StreamEndpoint.State.CLOSED;
    }

    /**
     * Closes it. What was sent reaches the peer first: this waits until the peer has it, or the connection is found broken,
     * which with the default acknowledgement time-out takes up to 69 seconds. After 70 seconds a peer is given up that
     * answers and takes nothing. So a process may end when this has returned.
     * Calls of other threads end with an exception. C: {@code rclose}, which waits likewise.
     */
    @Override
    public void close() {
        endpoint.closeAndWait();
    }

    /** For {@link RdmaPoll}. */
    Waitable endpoint() {
        return endpoint;
    }
}
