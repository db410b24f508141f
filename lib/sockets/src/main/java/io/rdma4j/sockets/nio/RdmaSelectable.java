package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.SocketEndpoint;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import org.jspecify.annotations.Nullable;

/** A channel of this library as seen by a selector. It may be over RDMA, over TCP, over both or undecided. */
interface RdmaSelectable {
    /**
     * Returns the subset of the operations that the channel is ready for over RDMA.
     *
     * @param interest the operations to check
     * @param toWait true to notify the channel's keys of the next change
     */
    int readyOps(int interest, boolean toWait);

    /** Returns the TCP channel in use, or null. */
    @Nullable
    SelectableChannel platformChannel();

    /** Returns the endpoint in use, or null. */
    @Nullable
    SocketEndpoint endpoint();

    /** Returns whether the channel is open. */
    boolean isOpen();

    /** Throws if the channel is closed. */
    default void requireOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** Returns the keys to notify when the readiness may have changed. */
    KeyList keys();
}
