package io.rdma4j.tools.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The datagram socket of udpong, over RDMA or UDP. It never blocks; callers wait with {@link #await}. */
interface DatagramTestSocket extends AutoCloseable {
    /** Sets the sizes of both buffers, as far as the system permits. */
    void setBuffers(int bytes) throws IOException;

    /** Binds the socket. */
    void bind(InetSocketAddress local) throws IOException;

    /** Connects the socket to a peer. It then receives only from this peer. */
    void connect(InetSocketAddress remote) throws IOException;

    /** Sends to the connected peer. Returns false if there is no buffer space. */
    boolean send(ByteBuffer data) throws IOException;

    /** Sends to the given address. Returns false if there is no buffer space. */
    boolean sendTo(ByteBuffer data, InetSocketAddress remote) throws IOException;

    /** Receives a datagram and returns its source, or null if none is pending. */
    @Nullable
    InetSocketAddress receive(ByteBuffer target) throws IOException;

    /**
     * Waits for one of {@link io.rdma4j.sockets.PollEvents}.
     *
     * @param timeout the maximum time to wait, or null to wait indefinitely
     * @return the event, or 0 if the wait timed out
     */
    int await(int event, @Nullable Duration timeout) throws IOException;

    @Override
    void close();
}
