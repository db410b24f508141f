package io.rdma4j.tools.rping;

/** The state of an rping connection. Its numbers appear in messages. */
enum RpingState {
    /** Initial state. */
    IDLE(1),
    /** A peer requests a connection. */
    CONNECT_REQUEST(2),
    /** The address is resolved. */
    ADDRESS_RESOLVED(3),
    /** The route is resolved. */
    ROUTE_RESOLVED(4),
    /** The connection is established. */
    CONNECTED(5),
    /** The client has advertised its source buffer. */
    READ_ADVERTISED(6),
    /** The server has read the data. */
    READ_COMPLETE(7),
    /** The client has advertised its target buffer. */
    WRITE_ADVERTISED(8),
    /** The server has written the data. */
    WRITE_COMPLETE(9),
    /** The peer or this side has disconnected. */
    DISCONNECTED(10),
    /** A failure occurred. */
    ERROR(11);

    private final int number;

    RpingState(int number) {
        this.number = number;
    }

    /** Returns the number for messages. */
    int number() {
        return number;
    }
}
