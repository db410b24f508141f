package io.rdma4j.transport;

import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Opcode;

/** Maps each part of a work request to its packet opcode, for reliable and unreliable connections. */
final class RequestOpcodes {
    private static final Opcode[] TABLE = new Opcode[(SendOpcode.ATOMIC_WRITE.code() + 1) * 4];

    private static final Opcode[] UNRELIABLE = new Opcode[TABLE.length];

    /** The opcode bit that distinguishes unreliable connections from reliable ones. */
    private static final int UNRELIABLE_CONNECTION = 0x20;

    static {
        for (SendOpcode opcode : SendOpcode.values()) {
            if (opcode.isLocal()) {
                continue;
            }
            set(opcode, false, false, middle(opcode));
            set(opcode, true, false, first(opcode));
            set(opcode, false, true, last(opcode));
            set(opcode, true, true, only(opcode));
        }
    }

    private RequestOpcodes() {}

    /** Returns the opcode of a packet by its position in the message. */
    static Opcode of(SendOpcode opcode, boolean isFirst, boolean isLast) {
        return TABLE[index(opcode, isFirst, isLast)];
    }

    /** Returns the opcode of a packet of an unreliable connection. Only for SEND and WRITE without invalidation. */
    static Opcode unreliable(SendOpcode opcode, boolean isFirst, boolean isLast) {
        return UNRELIABLE[index(opcode, isFirst, isLast)];
    }

    private static void set(SendOpcode opcode, boolean isFirst, boolean isLast, Opcode packet) {
        int index = index(opcode, isFirst, isLast);
        TABLE[index] = packet;
        Opcode unreliable = Opcode.of(packet.code() | UNRELIABLE_CONNECTION);
        UNRELIABLE[index] = unreliable == null ? packet : unreliable;
    }

    private static int index(SendOpcode opcode, boolean isFirst, boolean isLast) {
        return opcode.code() << 2 | (isFirst ? 2 : 0) | (isLast ? 1 : 0);
    }

    private static Opcode first(SendOpcode opcode) {
        return switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE -> Opcode.RC_SEND_FIRST;
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> Opcode.RC_WRITE_FIRST;
            default -> only(opcode);
        };
    }

    private static Opcode middle(SendOpcode opcode) {
        return switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE -> Opcode.RC_SEND_MIDDLE;
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> Opcode.RC_WRITE_MIDDLE;
            default -> only(opcode);
        };
    }

    private static Opcode last(SendOpcode opcode) {
        return switch (opcode) {
            case SEND -> Opcode.RC_SEND_LAST;
            case SEND_WITH_IMMEDIATE -> Opcode.RC_SEND_LAST_IMMEDIATE;
            case SEND_WITH_INVALIDATE -> Opcode.RC_SEND_LAST_INVALIDATE;
            case RDMA_WRITE -> Opcode.RC_WRITE_LAST;
            case RDMA_WRITE_WITH_IMMEDIATE -> Opcode.RC_WRITE_LAST_IMMEDIATE;
            default -> only(opcode);
        };
    }

    private static Opcode only(SendOpcode opcode) {
        return switch (opcode) {
            case SEND -> Opcode.RC_SEND_ONLY;
            case SEND_WITH_IMMEDIATE -> Opcode.RC_SEND_ONLY_IMMEDIATE;
            case SEND_WITH_INVALIDATE -> Opcode.RC_SEND_ONLY_INVALIDATE;
            case RDMA_WRITE -> Opcode.RC_WRITE_ONLY;
            case RDMA_WRITE_WITH_IMMEDIATE -> Opcode.RC_WRITE_ONLY_IMMEDIATE;
            case RDMA_READ -> Opcode.RC_READ_REQUEST;
            case COMPARE_AND_SWAP -> Opcode.RC_COMPARE_SWAP;
            case FETCH_AND_ADD -> Opcode.RC_FETCH_ADD;
            case FLUSH -> Opcode.RC_FLUSH;
            case ATOMIC_WRITE -> Opcode.RC_ATOMIC_WRITE;
            case BIND_MEMORY_WINDOW, LOCAL_INVALIDATE -> throw new IllegalArgumentException(opcode + " has no packet");
        };
    }
}
