package io.rdma4j.sockets.datagram;

/** Why something that came, or was to go, was dropped. */
public enum Drop {
    /** It has no header, one that contradicts itself, or is too long. */
    MALFORMED,
    /** Its header names another address than the one that it came from. */
    FORGED,
    /** It came from a queue pair that has not made itself known on the UDP socket, or from another than the known one. */
    UNKNOWN_SENDER,
    /** It answers a question that was not asked. */
    UNSOLICITED,
    /** The socket is connected to somebody else. */
    FOREIGN,
    /** The queue of what waits to be received was full, or there is no way back to the sender. */
    NO_ROOM,
    /** The UDP socket took no more. */
    NOT_SENT
}
