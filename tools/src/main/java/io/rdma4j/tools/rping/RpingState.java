package io.rdma4j.tools.rping;

/** Where a connection of rping stands; the numbers appear in its messages. */
enum RpingState {
    /** Nothing has happened. */
    IDLE(1),
    /** A peer asks for a connection. */
    CONNECT_REQUEST(2),
    /** The address is resolved. */
    ADDRESS_RESOLVED(3),
    /** The route is resolved. */
    ROUTE_RESOLVED(4),
    /** Connected. */
    CONNECTED(5),
    /** The client has told where its data are. */
    READ_ADVERTISED(6),
    /** The server has read them. */
    READ_COMPLETE(7),
    /** The client has told where the data are to go. */
    WRITE_ADVERTISED(8),
    /** The server has written them. */
    WRITE_COMPLETE(9),
    /** The peer or this side has disconnected. */
    DISCONNECTED(10),
    /** Something failed. */
    ERROR(11);

    private final int number;

    RpingState(int number) {
        this.number = number;
    }

    /** The number in messages. */
    int number() {
        return number;
    }
}
