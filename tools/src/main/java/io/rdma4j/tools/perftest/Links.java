package io.rdma4j.tools.perftest;

/** How the queue pairs that are measured come to be connected. Not thread safe. */
interface Links extends AutoCloseable {
    /** Makes the queue pairs, and with the connection manager connects them. */
    void make() throws PerftestFailure;

    /** Connects each queue pair with the peer's that it was told of, unless it is. */
    void connect() throws PerftestFailure;

    /** Whether the peer has closed a connection; looks, and does not wait. */
    boolean isOver();

    /** All is done: gives the peer the time that it needs to see so. */
    void awaitDisconnect();

    /** Parts from the peer and closes the queue pairs. */
    @Override
    void close();
}
