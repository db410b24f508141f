package io.rdma4j.sockets.io;

/** What an endpoint is ready for: bits of a set, as poll(2) has them. */
public final class Readiness {
    /** Something can be read, or a connection accepted, or the peer sends no more. */
    public static final int IN = 1;

    /** Something can be written, or a connection attempt has ended. */
    public static final int OUT = 2;

    /** The connection has ended in both directions. */
    public static final int HANG_UP = 4;

    /** The endpoint has failed. */
    public static final int ERROR = 8;

    private Readiness() {}
}
