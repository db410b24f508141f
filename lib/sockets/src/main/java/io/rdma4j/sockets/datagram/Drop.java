package io.rdma4j.sockets.datagram;

/** The reason why a received or sent datagram or message was dropped. */
public enum Drop {
    /** It has no header or an inconsistent one, or it is too long. */
    MALFORMED,
    /** Its header contains another source address than the IP packet. */
    FORGED,
    /** Its queue pair is not the one that its source has announced over UDP. */
    UNKNOWN_SENDER,
    /** It answers a question that was not asked. */
    UNSOLICITED,
    /** The socket is connected to another peer. */
    FOREIGN,
    /** The receive queue is full, or there is no route back to the sender. */
    NO_ROOM,
    /** The UDP socket did not accept it. */
    NOT_SENT
}
