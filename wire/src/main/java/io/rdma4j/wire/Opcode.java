package io.rdma4j.wire;

import org.jspecify.annotations.Nullable;

/**
 * The operations of the reliable, unreliable connected, datagram and extended reliable transports: the one table that the parser, the
 * requester, the responder and the dissector read.
 *
 * <p>The opcode byte is the transport in bits 7:5 and the operation in bits 4:0. Each row says which extension headers
 * follow the BTH and what part of a message the packet is. Source: InfiniBand Architecture volume 1, 9.2 and table 38, and annex A14 (XRC).
 */
public enum Opcode {
    /** First packet of a SEND. */
    RC_SEND_FIRST(0x00, Flag.REQUEST | Flag.SEND | Flag.FIRST),
    /** Packet inside a SEND. */
    RC_SEND_MIDDLE(0x01, Flag.REQUEST | Flag.SEND | Flag.MIDDLE),
    /** Last packet of a SEND. */
    RC_SEND_LAST(0x02, Flag.REQUEST | Flag.SEND | Flag.LAST),
    /** Last packet of a SEND, with immediate data. */
    RC_SEND_LAST_IMMEDIATE(0x03, Flag.REQUEST | Flag.SEND | Flag.LAST | Flag.IMM),
    /** A SEND of one packet. */
    RC_SEND_ONLY(0x04, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST),
    /** A SEND of one packet, with immediate data. */
    RC_SEND_ONLY_IMMEDIATE(0x05, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST | Flag.IMM),
    /** First packet of an RDMA WRITE. */
    RC_WRITE_FIRST(0x06, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.RETH),
    /** Packet inside an RDMA WRITE. */
    RC_WRITE_MIDDLE(0x07, Flag.REQUEST | Flag.WRITE | Flag.MIDDLE),
    /** Last packet of an RDMA WRITE. */
    RC_WRITE_LAST(0x08, Flag.REQUEST | Flag.WRITE | Flag.LAST),
    /** Last packet of an RDMA WRITE, with immediate data. */
    RC_WRITE_LAST_IMMEDIATE(0x09, Flag.REQUEST | Flag.WRITE | Flag.LAST | Flag.IMM),
    /** An RDMA WRITE of one packet. */
    RC_WRITE_ONLY(0x0a, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.LAST | Flag.RETH),
    /** An RDMA WRITE of one packet, with immediate data. */
    RC_WRITE_ONLY_IMMEDIATE(0x0b, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.LAST | Flag.RETH | Flag.IMM),
    /** Request of an RDMA READ. */
    RC_READ_REQUEST(0x0c, Flag.REQUEST | Flag.READ | Flag.FIRST | Flag.LAST | Flag.RETH),
    /** First packet of an RDMA READ's answer. */
    RC_READ_RESPONSE_FIRST(0x0d, Flag.RESPONSE | Flag.READ | Flag.FIRST | Flag.AETH),
    /** Packet inside an RDMA READ's answer; it has no extension header. */
    RC_READ_RESPONSE_MIDDLE(0x0e, Flag.RESPONSE | Flag.READ | Flag.MIDDLE),
    /** Last packet of an RDMA READ's answer. */
    RC_READ_RESPONSE_LAST(0x0f, Flag.RESPONSE | Flag.READ | Flag.LAST | Flag.AETH),
    /** An RDMA READ's answer of one packet. */
    RC_READ_RESPONSE_ONLY(0x10, Flag.RESPONSE | Flag.READ | Flag.FIRST | Flag.LAST | Flag.AETH),
    /** Acknowledgement, positive or negative. */
    RC_ACKNOWLEDGE(0x11, Flag.RESPONSE | Flag.FIRST | Flag.LAST | Flag.AETH),
    /** Answer of an atomic operation. */
    RC_ATOMIC_ACKNOWLEDGE(0x12, Flag.RESPONSE | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.AETH | Flag.ATOMIC_ACK),
    /** Atomic compare and swap. */
    RC_COMPARE_SWAP(0x13, Flag.REQUEST | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.ATOMIC_ETH),
    /** Atomic fetch and add. */
    RC_FETCH_ADD(0x14, Flag.REQUEST | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.ATOMIC_ETH),
    /** Last packet of a SEND that invalidates a key. */
    RC_SEND_LAST_INVALIDATE(0x16, Flag.REQUEST | Flag.SEND | Flag.LAST | Flag.IETH),
    /** A SEND of one packet that invalidates a key. */
    RC_SEND_ONLY_INVALIDATE(0x17, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST | Flag.IETH),

    /** First packet of an unreliable SEND. */
    UC_SEND_FIRST(0x20, Flag.REQUEST | Flag.SEND | Flag.FIRST),
    /** Packet inside an unreliable SEND. */
    UC_SEND_MIDDLE(0x21, Flag.REQUEST | Flag.SEND | Flag.MIDDLE),
    /** Last packet of an unreliable SEND. */
    UC_SEND_LAST(0x22, Flag.REQUEST | Flag.SEND | Flag.LAST),
    /** Last packet of an unreliable SEND, with immediate data. */
    UC_SEND_LAST_IMMEDIATE(0x23, Flag.REQUEST | Flag.SEND | Flag.LAST | Flag.IMM),
    /** An unreliable SEND of one packet. */
    UC_SEND_ONLY(0x24, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST),
    /** An unreliable SEND of one packet, with immediate data. */
    UC_SEND_ONLY_IMMEDIATE(0x25, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST | Flag.IMM),
    /** First packet of an unreliable RDMA WRITE. */
    UC_WRITE_FIRST(0x26, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.RETH),
    /** Packet inside an unreliable RDMA WRITE. */
    UC_WRITE_MIDDLE(0x27, Flag.REQUEST | Flag.WRITE | Flag.MIDDLE),
    /** Last packet of an unreliable RDMA WRITE. */
    UC_WRITE_LAST(0x28, Flag.REQUEST | Flag.WRITE | Flag.LAST),
    /** Last packet of an unreliable RDMA WRITE, with immediate data. */
    UC_WRITE_LAST_IMMEDIATE(0x29, Flag.REQUEST | Flag.WRITE | Flag.LAST | Flag.IMM),
    /** An unreliable RDMA WRITE of one packet. */
    UC_WRITE_ONLY(0x2a, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.LAST | Flag.RETH),
    /** An unreliable RDMA WRITE of one packet, with immediate data. */
    UC_WRITE_ONLY_IMMEDIATE(0x2b, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.LAST | Flag.RETH | Flag.IMM),

    /** A datagram. */
    UD_SEND_ONLY(0x64, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST | Flag.DETH),
    /** A datagram with immediate data. */
    UD_SEND_ONLY_IMMEDIATE(0x65, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST | Flag.DETH | Flag.IMM),

    /** First packet of a SEND; extended reliable connection. */
    XRC_SEND_FIRST(0xa0, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.XRC),
    /** Packet inside a SEND; extended reliable connection. */
    XRC_SEND_MIDDLE(0xa1, Flag.REQUEST | Flag.SEND | Flag.MIDDLE | Flag.XRC),
    /** Last packet of a SEND; extended reliable connection. */
    XRC_SEND_LAST(0xa2, Flag.REQUEST | Flag.SEND | Flag.LAST | Flag.XRC),
    /** Last packet of a SEND, with immediate data; extended reliable connection. */
    XRC_SEND_LAST_IMMEDIATE(0xa3, Flag.REQUEST | Flag.SEND | Flag.LAST | Flag.IMM | Flag.XRC),
    /** A SEND of one packet; extended reliable connection. */
    XRC_SEND_ONLY(0xa4, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST | Flag.XRC),
    /** A SEND of one packet, with immediate data; extended reliable connection. */
    XRC_SEND_ONLY_IMMEDIATE(0xa5, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST | Flag.IMM | Flag.XRC),
    /** First packet of an RDMA WRITE; extended reliable connection. */
    XRC_WRITE_FIRST(0xa6, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.RETH | Flag.XRC),
    /** Packet inside an RDMA WRITE; extended reliable connection. */
    XRC_WRITE_MIDDLE(0xa7, Flag.REQUEST | Flag.WRITE | Flag.MIDDLE | Flag.XRC),
    /** Last packet of an RDMA WRITE; extended reliable connection. */
    XRC_WRITE_LAST(0xa8, Flag.REQUEST | Flag.WRITE | Flag.LAST | Flag.XRC),
    /** Last packet of an RDMA WRITE, with immediate data; extended reliable connection. */
    XRC_WRITE_LAST_IMMEDIATE(0xa9, Flag.REQUEST | Flag.WRITE | Flag.LAST | Flag.IMM | Flag.XRC),
    /** An RDMA WRITE of one packet; extended reliable connection. */
    XRC_WRITE_ONLY(0xaa, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.LAST | Flag.RETH | Flag.XRC),
    /** An RDMA WRITE of one packet, with immediate data; extended reliable connection. */
    XRC_WRITE_ONLY_IMMEDIATE(
            0xab, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.LAST | Flag.RETH | Flag.IMM | Flag.XRC),
    /** Request of an RDMA READ; extended reliable connection. */
    XRC_READ_REQUEST(0xac, Flag.REQUEST | Flag.READ | Flag.FIRST | Flag.LAST | Flag.RETH | Flag.XRC),
    /** First packet of an RDMA READ's answer; extended reliable connection. */
    XRC_READ_RESPONSE_FIRST(0xad, Flag.RESPONSE | Flag.READ | Flag.FIRST | Flag.AETH),
    /** Packet inside an RDMA READ's answer; it has no extension header; extended reliable connection. */
    XRC_READ_RESPONSE_MIDDLE(0xae, Flag.RESPONSE | Flag.READ | Flag.MIDDLE),
    /** Last packet of an RDMA READ's answer; extended reliable connection. */
    XRC_READ_RESPONSE_LAST(0xaf, Flag.RESPONSE | Flag.READ | Flag.LAST | Flag.AETH),
    /** An RDMA READ's answer of one packet; extended reliable connection. */
    XRC_READ_RESPONSE_ONLY(0xb0, Flag.RESPONSE | Flag.READ | Flag.FIRST | Flag.LAST | Flag.AETH),
    /** Acknowledgement, positive or negative; extended reliable connection. */
    XRC_ACKNOWLEDGE(0xb1, Flag.RESPONSE | Flag.FIRST | Flag.LAST | Flag.AETH),
    /** Answer of an atomic operation; extended reliable connection. */
    XRC_ATOMIC_ACKNOWLEDGE(0xb2, Flag.RESPONSE | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.AETH | Flag.ATOMIC_ACK),
    /** Atomic compare and swap; extended reliable connection. */
    XRC_COMPARE_SWAP(0xb3, Flag.REQUEST | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.ATOMIC_ETH | Flag.XRC),
    /** Atomic fetch and add; extended reliable connection. */
    XRC_FETCH_ADD(0xb4, Flag.REQUEST | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.ATOMIC_ETH | Flag.XRC),
    /** Last packet of a SEND that invalidates a key; extended reliable connection. */
    XRC_SEND_LAST_INVALIDATE(0xb6, Flag.REQUEST | Flag.SEND | Flag.LAST | Flag.IETH | Flag.XRC),
    /** A SEND of one packet that invalidates a key; extended reliable connection. */
    XRC_SEND_ONLY_INVALIDATE(0xb7, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST | Flag.IETH | Flag.XRC);

    /** The transports, by bits 7:5 of the opcode byte. */
    public enum Transport {
        /** Reliable connection. */
        RC,
        /** Unreliable connection. */
        UC,
        /** Unreliable datagram. */
        UD,
        /** Extended reliable connection. */
        XRC
    }

    private static final class Flag {
        static final int REQUEST = 1;
        static final int RESPONSE = 1 << 1;
        static final int SEND = 1 << 2;
        static final int WRITE = 1 << 3;
        static final int READ = 1 << 4;
        static final int ATOMIC = 1 << 5;
        static final int FIRST = 1 << 6;
        static final int MIDDLE = 1 << 7;
        static final int LAST = 1 << 8;
        static final int DETH = 1 << 9;
        static final int RETH = 1 << 10;
        static final int ATOMIC_ETH = 1 << 11;
        static final int AETH = 1 << 12;
        static final int ATOMIC_ACK = 1 << 13;
        static final int IMM = 1 << 14;
        static final int IETH = 1 << 15;
        static final int XRC = 1 << 16;

        private Flag() {}
    }

    private static final @Nullable Opcode[] BY_CODE = new @Nullable Opcode[256];

    static {
        for (Opcode opcode : values()) {
            BY_CODE[opcode.code] = opcode;
        }
    }

    /** What the opcodes of the extended reliable connection have beyond those of the reliable one. */
    private static final int EXTENDED = 0xa0;

    private final int code;
    private final int flags;

    private final Transport transport;
    private final int extensionOffset;
    private final int headerLength;

    Opcode(int code, int flags) {
        this.code = code;
        this.flags = flags;
        this.transport = switch (code >> 5) {
            case 0 -> Transport.RC;
            case 1 -> Transport.UC;
            case EXTENDED >> 5 -> Transport.XRC;
            default -> Transport.UD;
        };
        this.extensionOffset = Bth.LENGTH + (has(Flag.XRC) ? XrcEth.LENGTH : 0);
        this.headerLength = extensionOffset
                + (has(Flag.DETH) ? Deth.LENGTH : 0)
                + (has(Flag.RETH) ? Reth.LENGTH : 0)
                + (has(Flag.ATOMIC_ETH) ? AtomicEth.LENGTH : 0)
                + (has(Flag.AETH) ? Aeth.LENGTH : 0)
                + (has(Flag.ATOMIC_ACK) ? AtomicAckEth.LENGTH : 0)
                + (has(Flag.IMM) ? ImmDt.LENGTH : 0)
                + (has(Flag.IETH) ? Ieth.LENGTH : 0);
    }

    /** The operation of a byte that is known to have one. */
    private static Opcode known(int code) {
        Opcode opcode = BY_CODE[code];
        if (opcode == null) {
            throw new AssertionError("no opcode 0x" + Integer.toHexString(code));
        }
        return opcode;
    }

    private boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /** The operation of an opcode byte, or null where the byte is reserved or of a transport not spoken here. */
    public static @Nullable Opcode of(int code) {
        return BY_CODE[code & 0xff];
    }

    /** The opcode byte. */
    public int code() {
        return code;
    }

    /** The transport that the operation belongs to. */
    public Transport transport() {
        return transport;
    }

    /** Bytes from the BTH's first to the payload's first. */
    public int headerLength() {
        return headerLength;
    }

    /** Whether the packet travels from requester to responder. */
    public boolean isRequest() {
        return has(Flag.REQUEST);
    }

    /** Whether the packet travels from responder to requester. */
    public boolean isResponse() {
        return has(Flag.RESPONSE);
    }

    /** Whether the packet is of a SEND. */
    public boolean isSend() {
        return has(Flag.SEND);
    }

    /** Whether the packet is of an RDMA WRITE. */
    public boolean isWrite() {
        return has(Flag.WRITE);
    }

    /** Whether the packet is of an RDMA READ, its request or an answer. */
    public boolean isRead() {
        return has(Flag.READ);
    }

    /** Whether the packet is of an atomic operation, its request or its answer. */
    public boolean isAtomic() {
        return has(Flag.ATOMIC);
    }

    /** Whether the packet begins its message. */
    public boolean isFirst() {
        return has(Flag.FIRST);
    }

    /** Whether the packet is neither the first nor the last of its message. */
    public boolean isMiddle() {
        return has(Flag.MIDDLE);
    }

    /** Whether the packet ends its message. */
    public boolean isLast() {
        return has(Flag.LAST);
    }

    /** Whether the header of extended connections follows the BTH: all their requests have it. */
    public boolean hasXrcEth() {
        return has(Flag.XRC);
    }

    /** Bytes from the BTH's first to that of the first header beyond it and beyond the XRCETH. */
    public int extensionOffset() {
        return extensionOffset;
    }

    /** The same operation of the reliable connection for one of the extended; others are themselves. */
    public Opcode connected() {
        return transport == Transport.XRC ? known(code & ~EXTENDED) : this;
    }

    /** The same operation of the extended reliable connection for one of the reliable connection; others are themselves. */
    public Opcode extended() {
        return transport == Transport.RC ? known(code | EXTENDED) : this;
    }

    /** Whether a datagram header follows the BTH. */
    public boolean hasDeth() {
        return has(Flag.DETH);
    }

    /** Whether an RDMA header follows the BTH. */
    public boolean hasReth() {
        return has(Flag.RETH);
    }

    /** Whether an atomic header follows the BTH. */
    public boolean hasAtomicEth() {
        return has(Flag.ATOMIC_ETH);
    }

    /** Whether an acknowledgement header follows the BTH. */
    public boolean hasAeth() {
        return has(Flag.AETH);
    }

    /** Whether an atomic answer follows the acknowledgement header. */
    public boolean hasAtomicAckEth() {
        return has(Flag.ATOMIC_ACK);
    }

    /** Whether immediate data come last before the payload. */
    public boolean hasImmediate() {
        return has(Flag.IMM);
    }

    /** Whether a key to invalidate comes last before the payload. */
    public boolean hasIeth() {
        return has(Flag.IETH);
    }

    /** Whether the packet takes a receive work request when it ends its message. */
    public boolean completesReceive() {
        return isRequest() && isLast() && (isSend() || hasImmediate());
    }
}
