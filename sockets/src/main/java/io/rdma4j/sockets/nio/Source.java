package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.Waitable;
import java.nio.channels.SelectableChannel;
import org.jspecify.annotations.Nullable;

/** What a selector asks of a channel of this library, which may be over RDMA, over TCP, over both or undecided. */
interface Source {
    /**
     * For which of these operations it is ready, as far as RDMA is concerned.
     *
     * @param toWait whether the channel's keys are to be told of the next change
     */
    int readyOps(int interest, boolean toWait);

    /** The TCP channel inside, or null. */
    @Nullable
    SelectableChannel platformChannel();

    /** The endpoint inside, or null. */
    @Nullable
    Waitable endpoint();

    /** The keys that are told when anything may have changed. */
    KeyList keys();
}
