package io.rdma4j.sharing;

import io.rdma4j.link.LocalChannel;
import java.nio.ByteBuffer;

/**
 * The messages between the owner of a port and the other processes that use it. Each starts with one byte, its kind. Frames are
 * dropped if the other process does not read. All other messages wait ({@link LocalChannel#sendControl}).
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
 * REFUSED            reason, version of the owner                         owner to a process that cannot be a member
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

    /** Requests a heartbeat. */
    static final byte PING = 10;

    static final byte PONG = 11;

    /** Requests that the owner check whether another process has taken over the address while it was stopped. */
    static final byte REPLACED = 12;

    /** The last message of an owner that was replaced: the channel ends, but not the process. */
    static final byte RESIGNED = 13;

    /** The answer to a process that cannot join, after which the channel ends. */
    static final byte REFUSED = 14;

    /** The process and the owner have different versions of these messages. */
    static final byte OTHER_VERSION = 1;

    /** The owner has no descriptor left for the channel. */
    static final byte NO_DESCRIPTORS = 2;

    static final int REFUSED_BYTES = 3;

    static final byte VERSION = 6;

    static final int HELLO_BYTES = 5;
    static final int SIBLING_BYTES = 4;
    static final int SERVICE_BYTES = 12;
    static final int SERVICE_AT = 4;
    static final int FRAME_HEADER_BYTES = 24;

    /** The subject of messages of a kind about a slot or a service; a later message makes an earlier one obsolete. */
    private record Subject(byte kind, long of) {}

    private RelayMessage() {}

    /** Writes the message that a process cannot join. */
    static ByteBuffer beginRefused(ByteBuffer out, byte reason) {
        return begin(out, REFUSED, REFUSED_BYTES).put(1, reason).put(2, VERSION);
    }

    /** Sends a control message about no slot or service. It waits if the other process does not read. */
    static void send(LocalChannel channel, byte kind, ByteBuffer message) {
        send(channel, kind, 0, message);
    }

    /**
     * Sends a control message, which waits if the other process does not read.
     *
     * @param kind the kind of the messages that this one makes obsolete
     * @param of the slot or the service that the message is about
     */
    static void send(LocalChannel channel, byte kind, long of, ByteBuffer message) {
        channel.sendControl(new Subject(kind, of), message);
    }

    /** Starts a message of a kind. The caller puts the other fields at their offsets. */
    static ByteBuffer begin(ByteBuffer out, byte kind, int bytes) {
        return out.clear().limit(bytes).put(0, kind);
    }
}
