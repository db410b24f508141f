package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolFailure;

/** A connector, which creates and connects the measured queue pairs. Not thread safe. */
interface QueuePairConnector extends AutoCloseable {
    /** Creates the queue pairs. A connector that uses the connection manager also connects them. */
    void create() throws ToolFailure;

    /** Connects each queue pair to the peer's destination, unless it is connected already. */
    void connect() throws ToolFailure;

    /** Returns whether the peer has closed a connection, without waiting. */
    boolean isClosed();

    /** Waits after the test until the peer no longer needs this side's acknowledgements. */
    void awaitDisconnect();

    /** Disconnects and closes the queue pairs. */
    @Override
    void close();
}
