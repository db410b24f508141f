package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.MessageFlag;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A stream socket of the tools, over RDMA or TCP, with the methods of {@link io.rdma4j.sockets.RdmaStreamSocket}. */
interface TestSocket extends AutoCloseable {
    /** Sets the blocking mode. */
    void configureBlocking(boolean blocking) throws IOException;

    /** Sets an option. */
    <T> void setOption(SocketOption<T> option, T value) throws IOException;

    /** Returns the value of an option. */
    <T> T option(SocketOption<T> option) throws IOException;

    /** Binds the socket. */
    void bind(InetSocketAddress local) throws IOException;

    /** Starts to listen for connections. */
    void listen(int backlog) throws IOException;

    /** Accepts a connection. Returns null if the socket is non-blocking and none is pending. */
    @Nullable
    TestSocket accept() throws IOException;

    /** Connects. Returns false if the connection attempt is in progress. */
    boolean connect(InetSocketAddress remote) throws IOException;

    /** Returns whether the connection is established. Returns false while the attempt is in progress. */
    boolean finishConnect() throws IOException;

    /** Waits for {@link io.rdma4j.sockets.PollEvents}, indefinitely if the timeout is null. */
    int await(int events, @Nullable Duration timeout) throws IOException;

    /** Receives bytes. Returns 0 if none are available, or -1 at end of stream. */
    int receive(ByteBuffer target, Set<MessageFlag> flags) throws IOException;

    /** Sends bytes. Returns 0 if there is no buffer space. */
    int send(ByteBuffer source, Set<MessageFlag> flags) throws IOException;

    /** Shuts down both directions. */
    void shutdown() throws IOException;

    @Override
    void close() throws IOException;
}
