package io.rdma4j.tools.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What udpong does with a datagram socket, over RDMA or UDP. Calls that block are for whoever uses it to make. */
interface DatagramTestSocket extends AutoCloseable {
    /** Sets the sizes of both buffers, as far as there is room. */
    void setBuffers(int bytes) throws IOException;

    /** Binds it. */
    void bind(InetSocketAddress local) throws IOException;

    /** Sends to one peer from now on, and receives from no other. */
    void connect(InetSocketAddress remote) throws IOException;

    /** Sends to the peer; false if there is no room. */
    boolean send(ByteBuffer data) throws IOException;

    /** Sends; false if there is no room. */
    boolean sendTo(ByteBuffer data, InetSocketAddress remote) throws IOException;

    /** Receives; null if nothing is there. */
    @Nullable
    InetSocketAddress receive(ByteBuffer target) throws IOException;

    /**
     * Waits for one of {@link io.rdma4j.sockets.PollEvents}; null for ever.
     *
     * @return 0 when the time is over
     */
    int await(int event, @Nullable Duration timeout) throws IOException;

    @Override
    void close();
}
