package io.rdma4j.sockets.io;

/** The readiness of an endpoint: bits of a set, as in poll(2). */
public final class Readiness {
    /** Data can be read, a connection can be accepted, or the stream has ended. */
    public static final int IN = 1;

    /** Data can be written, or an attempt to connect has ended. */
    public static final int OUT = 2;

    /** The connection has ended in both directions. */
    public static final int HANG_UP = 4;

    /** The endpoint has failed. */
    public static final int ERROR = 8;

    private Readiness() {}
}
