package io.rdma4j.sockets;

/** How one call sends or receives. C: the flags of {@code rsend} and {@code rrecv}. */
public enum MessageFlag {
    /** Do not wait, whatever the socket does. C: {@code MSG_DONTWAIT}. */
    DONT_WAIT,

    /** Leave the bytes to be received again. C: {@code MSG_PEEK}. */
    PEEK,

    /** Wait until the buffer is full or nothing more will come; together with {@link #PEEK} it means nothing. C: {@code MSG_WAITALL}. */
    WAIT_ALL
}
