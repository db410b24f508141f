package io.rdma4j.soft.sharing;

import java.nio.ByteBuffer;

/**
 * The messages between the owner of a port and the other processes that use it. Each begins with one byte, its kind.
 *
 * <pre>
 * HELLO              version, slot, UDP port (2)                          member to owner
 * WELCOME            version, slot of the owner                           owner to member
 * LISTEN             3 bytes of padding, service ID (8)                   member to owner
 * LISTENING          3 bytes of padding, service ID (8)                   owner to member
 * UNLISTEN           3 bytes of padding, service ID (8)                   member to owner
 * FRAME              traffic class, source port (2), IPv4 identification (4, negative if unknown),
 *                    source address in GID form (16), UDP payload         owner to member
 * EXITED             slot of a process that has exited                    owner to member
 * SIBLING            slot of another process, its UDP port (2)            owner to member
 * PING               -                                                    member to owner
 * PONG               -                                                    owner to member
 * REPLACED           -                                                    former member to the owner that was replaced
 * RESIGNED           -                                                    the owner that was replaced to member
 * </pre>
 */
final class RelayMessage {
    static final byte HELLO = 1;
    static final byte WELCOME = 2;
    static final byte LISTEN = 3;
    static final byte LISTENING = 4;
    static final byte UNLISTEN = 5;
    static final byte FRAME = 6;
    static final byte EXITED = 7;

    static final byte SIBLING = 8;

    /** Asks for a sign of life. */
    static final byte PING = 10;

    static final byte PONG = 11;

    /** Asks the owner to check whether another process has taken over the address while it was stopped. */
    static final byte REPLACED = 12;

    /** The last message of an owner that was replaced: the end of the channel is not that of the process. */
    static final byte RESIGNED = 13;

    static final byte VERSION = 6;

    static final int HELLO_BYTES = 5;
    static final int SIBLING_BYTES = 4;
    static final int SERVICE_BYTES = 12;
    static final int SERVICE_AT = 4;
    static final int FRAME_HEADER_BYTES = 24;

    private RelayMessage() {}

    /** Begins a message of a kind, which its further fields are put into by their offsets. */
    static ByteBuffer begin(ByteBuffer out, byte kind, int bytes) {
        return out.clear().limit(bytes).put(0, kind);
    }
}
