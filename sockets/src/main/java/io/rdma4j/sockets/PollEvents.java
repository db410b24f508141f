package io.rdma4j.sockets;

/** What a socket is ready for: bits of a set, with the numbers of poll(2). */
public final class PollEvents {
    /** Something can be received, or a connection accepted, or nothing more will come. C: {@code POLLIN}. */
    public static final int IN = 1;

    /** Something can be sent, or an attempt to connect has ended. C: {@code POLLOUT}. */
    public static final int OUT = 4;

    /** The socket has failed; told without being asked for. C: {@code POLLERR}. */
    public static final int ERROR = 8;

    /** The connection has ended in both directions; told without being asked for. C: {@code POLLHUP}. */
    public static final int HANG_UP = 16;

    private PollEvents() {}
}
