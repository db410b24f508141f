package io.rdma4j.sockets;

/** Readiness events of a socket: bits of a set, with the values of poll(2). */
public final class PollEvents {
    /** Data can be received, a connection can be accepted, or the stream has ended. C: {@code POLLIN}. */
    public static final int IN = 1;

    /** Data can be sent, or an attempt to connect has finished. C: {@code POLLOUT}. */
    public static final int OUT = 4;

    /** The socket has failed; always reported, even if not requested. C: {@code POLLERR}. */
    public static final int ERROR = 8;

    /** The connection has ended in both directions; always reported, even if not requested. C: {@code POLLHUP}. */
    public static final int HANG_UP = 16;

    private PollEvents() {}
}
