package io.rdma4j.simulator;

/** The kinds of connections in a cluster. */
enum SideKind {
    /** A reliable connection. */
    RELIABLE,
    /** An unreliable connection. */
    UNRELIABLE,
    /** An extended reliable connection, from its initiator to its target. */
    EXTENDED,
    /** A stream of RDMA sockets over a reliable connection. */
    STREAM
}
