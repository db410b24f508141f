package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.MessageFlag;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the tools do with a socket, over RDMA or TCP. The calls are those of {@link io.rdma4j.sockets.RdmaStreamSocket}. */
interface TestSocket extends AutoCloseable {
    /** Has its calls wait, or not. */
    void configureBlocking(boolean blocking) throws IOException;

    /** Sets an option. */
    <T> void setOption(SocketOption<T> option, T value) throws IOException;

    /** The value of an option. */
    <T> T option(SocketOption<T> option) throws IOException;

    /** Binds it. */
    void bind(InetSocketAddress local) throws IOException;

    /** Takes connections. */
    void listen(int backlog) throws IOException;

    /** Takes a connection, or null if none is there and it does not block. */
    @Nullable
    TestSocket accept() throws IOException;

    /** Connects; false if that goes on. */
    boolean connect(InetSocketAddress remote) throws IOException;

    /** Whether the attempt to connect has succeeded; false while it goes on. */
    boolean finishConnect() throws IOException;

    /** Waits for {@link io.rdma4j.sockets.PollEvents}; null for ever. */
    int await(int events, @Nullable Duration timeout) throws IOException;

    /** Receives; 0 if nothing is there, -1 at the end. */
    int receive(ByteBuffer target, Set<MessageFlag> flags) throws IOException;

    /** Sends; 0 if there is no room. */
    int send(ByteBuffer source, Set<MessageFlag> flags) throws IOException;

    /** Ends both directions. */
    void shutdown() throws IOException;

    @Override
    void close() throws IOException;
}
