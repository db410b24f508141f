package io.rdma4j.sockets;

/** A flag of one send or receive call. C: the flags of {@code rsend} and {@code rrecv}. */
public enum MessageFlag {
    /** Do not block, even if the socket is blocking. C: {@code MSG_DONTWAIT}. */
    DONT_WAIT,

    /** Leave the received bytes in the socket, to be received again. C: {@code MSG_PEEK}. */
    PEEK,

    /**
     * Block until the buffer is full or the stream ends. Has no effect together with {@link #PEEK}. C:
     * {@code MSG_WAITALL}.
     */
    WAIT_ALL
}
