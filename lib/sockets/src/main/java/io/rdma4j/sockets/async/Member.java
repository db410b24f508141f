package io.rdma4j.sockets.async;

import java.io.IOException;
import java.nio.channels.SelectableChannel;

/** An asynchronous channel of a group, and the non-blocking channel that it uses. */
interface Member {
    RdmaChannelGroup group();

    SelectableChannel channel();

    /** Continues the operations for which the channel is ready: a set of {@link java.nio.channels.SelectionKey}. */
    void onReady(int ops);

    /** Handles the cancellation of an operation: the direction refuses further operations. */
    void onCancel(Direction direction);

    /** Completes closing if a failure has closed the non-blocking channel. */
    void closeIfFailed();

    void close() throws IOException;
}
