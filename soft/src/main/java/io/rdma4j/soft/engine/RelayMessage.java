package io.rdma4j.soft.engine;

/**
 * Messages between the owner of a port and the other processes that use it. Each begins with one byte, its kind.
 *
 * <pre>
 * HELLO      version, slot, UDP port (2)                          member to owner
 * WELCOME    version, slot of the owner                           owner to member
 * LISTEN     3 bytes of padding, service ID (8)                   member to owner
 * LISTENING  3 bytes of padding, service ID (8)                   owner to member
 * UNLISTEN   3 bytes of padding, service ID (8)                   member to owner
 * FRAME      traffic class, source port (2), IPv4 identification (4, negative if unknown),
 *            source address in GID form (16), UDP payload         owner to member
 * GONE       slot of a process that has ended                     owner to member
 * NEIGHBOUR  slot of another process, its UDP port (2)            owner to member
 * </pre>
 */
final class RelayMessage {
    static final byte HELLO = 1;
    static final byte WELCOME = 2;
    static final byte LISTEN = 3;
    static final byte LISTENING = 4;
    static final byte UNLISTEN = 5;
    static final byte FRAME = 6;
    static final byte GONE = 7;

    static final byte NEIGHBOUR = 8;

    static final byte VERSION = 3;

    static final int HELLO_BYTES = 5;
    static final int NEIGHBOUR_BYTES = 4;
    static final int SERVICE_BYTES = 12;
    static final int SERVICE_AT = 4;
    static final int FRAME_HEADER_BYTES = 24;

    private RelayMessage() {}
}
