package io.rdma4j.soft.sharing;

import io.rdma4j.link.LocalChannel;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The messages between the owner of a port and the other processes that use it. Each begins with one byte, its kind. Frames are dropped
 * if the other process does not read. All other messages wait ({@link LocalChannel#sendControl}).
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
 * CRASH_DISCONNECTS  3 bytes of padding; for each record that is new or removed: communication ID (4), queue pair (4),
 *                    the peer's communication ID (4, 0 to remove), traffic class and the peer's queue pair (1 + 3),
 *                    the peer's address in GID form (16)                  member to owner, owner to one member
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

    static final byte CRASH_DISCONNECTS = 9;

    /** Asks for a sign of life. */
    static final byte PING = 10;

    static final byte PONG = 11;

    /** Asks the owner to check whether another process has taken over the address while it was stopped. */
    static final byte REPLACED = 12;

    /** The last message of an owner that was replaced: the end of the channel is not that of the process. */
    static final byte RESIGNED = 13;

    /** The answer to a process that cannot join, after which the channel ends. */
    static final byte REFUSED = 14;

    /** The process and the owner have different versions of these messages. */
    static final byte OTHER_VERSION = 1;

    /** The owner has no descriptor for the channel. */
    static final byte NO_DESCRIPTORS = 2;

    static final int REFUSED_BYTES = 3;

    static final byte VERSION = 5;

    static final int HELLO_BYTES = 5;
    static final int SIBLING_BYTES = 4;
    static final int SERVICE_BYTES = 12;
    static final int SERVICE_AT = 4;
    static final int FRAME_HEADER_BYTES = 24;

    static final int RECORDS_AT = 4;
    static final int RECORD_BYTES = 32;

    private static final int QUEUE_PAIR_BITS = 24;
    private static final int QUEUE_PAIR_MASK = (1 << QUEUE_PAIR_BITS) - 1;

    /** The subject of messages of a kind about a slot or a service; a later message makes an earlier one obsolete. */
    private record Subject(byte kind, long of) {}

    private RelayMessage() {}

    /** Writes the message that a process cannot join. */
    static ByteBuffer beginRefused(ByteBuffer out, byte reason) {
        return begin(out, REFUSED, REFUSED_BYTES).put(1, reason).put(2, VERSION);
    }

    /** Sends a message about nothing but its kind. It waits if the other process does not read. */
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

    /** Begins a message of a kind, which its further fields are put into by their offsets. */
    static ByteBuffer begin(ByteBuffer out, byte kind, int bytes) {
        return out.clear().limit(bytes).put(0, kind);
    }

    /** Begins a message with {@code count} crash disconnects. */
    static void beginCrashDisconnects(ByteBuffer out, int count) {
        out.clear().limit(RECORDS_AT + count * RECORD_BYTES);
        out.putInt(0, CRASH_DISCONNECTS << 24);
    }

    /** Writes the record of a connection at an index, or its removal. */
    static void putCrashDisconnect(ByteBuffer out, int index, int localId, @Nullable CrashDisconnect crashDisconnect) {
        int at = RECORDS_AT + index * RECORD_BYTES;
        out.putInt(at, localId);
        out.putInt(at + 4, crashDisconnect == null ? 0 : crashDisconnect.localQueuePair());
        out.putInt(at + 8, crashDisconnect == null ? 0 : crashDisconnect.remoteId());
        out.putInt(
                at + 12,
                crashDisconnect == null
                        ? 0
                        : crashDisconnect.trafficClass() << QUEUE_PAIR_BITS | crashDisconnect.remoteQueuePair());
        out.putLong(at + 16, crashDisconnect == null ? 0 : crashDisconnect.remoteHigh());
        out.putLong(at + 24, crashDisconnect == null ? 0 : crashDisconnect.remoteLow());
    }

    /** Reads the record at an offset of a message. */
    static CrashDisconnect crashDisconnect(ByteBuffer message, int at) {
        int classAndQueuePair = message.getInt(at + 12);
        return new CrashDisconnect(
                message.getInt(at),
                message.getInt(at + 4) & QUEUE_PAIR_MASK,
                message.getInt(at + 8),
                classAndQueuePair & QUEUE_PAIR_MASK,
                classAndQueuePair >>> QUEUE_PAIR_BITS,
                message.getLong(at + 16),
                message.getLong(at + 24));
    }
}
