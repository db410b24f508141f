package io.rdma4j.wire;

import org.jspecify.annotations.Nullable;

/**
 * The operations of the reliable connection, unreliable connection, datagram and extended reliable transports, and the
 * congestion notification. The parser, the requester, the responder and the dissector share this table.
 *
 * <p>The opcode byte holds the transport in bits 7:5 and the operation in bits 4:0. Each row defines the extension
 * headers that follow the BTH and the position of the packet in its message. Source: InfiniBand Architecture volume 1,
 * 9.2 and table 38, annex A14 (XRC), annex A17 (congestion notification) and annex A19 (FLUSH and ATOMIC WRITE).
 */
public enum Opcode {
    /** First packet of a SEND. */
    RC_SEND_FIRST(0x00, Flag.REQUEST | Flag.SEND | Flag.FIRST),
    /** Middle packet of a SEND. */
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
    /** Middle packet of an RDMA WRITE. */
    RC_WRITE_MIDDLE(0x07, Flag.REQUEST | Flag.WRITE | Flag.MIDDLE),
    /** Last packet of an RDMA WRITE. */
    RC_WRITE_LAST(0x08, Flag.REQUEST | Flag.WRITE | Flag.LAST),
    /** Last packet of an RDMA WRITE, with immediate data. */
    RC_WRITE_LAST_IMMEDIATE(0x09, Flag.REQUEST | Flag.WRITE | Flag.LAST | Flag.IMM),
    /** An RDMA WRITE of one packet. */
    RC_WRITE_ONLY(0x0a, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.LAST | Flag.RETH),
    /** An RDMA WRITE of one packet, with immediate data. */
    RC_WRITE_ONLY_IMMEDIATE(0x0b, Flag.REQUEST | Flag.WRITE | Flag.FIRST | Flag.LAST | Flag.RETH | Flag.IMM),
    /** An RDMA READ request. */
    RC_READ_REQUEST(0x0c, Flag.REQUEST | Flag.READ | Flag.FIRST | Flag.LAST | Flag.RETH),
    /** First packet of an RDMA READ response. */
    RC_READ_RESPONSE_FIRST(0x0d, Flag.RESPONSE | Flag.READ | Flag.FIRST | Flag.AETH),
    /** Middle packet of an RDMA READ response, without extension header. */
    RC_READ_RESPONSE_MIDDLE(0x0e, Flag.RESPONSE | Flag.READ | Flag.MIDDLE),
    /** Last packet of an RDMA READ response. */
    RC_READ_RESPONSE_LAST(0x0f, Flag.RESPONSE | Flag.READ | Flag.LAST | Flag.AETH),
    /** An RDMA READ response of one packet. */
    RC_READ_RESPONSE_ONLY(0x10, Flag.RESPONSE | Flag.READ | Flag.FIRST | Flag.LAST | Flag.AETH),
    /** Acknowledgement, positive or negative. */
    RC_ACKNOWLEDGE(0x11, Flag.RESPONSE | Flag.FIRST | Flag.LAST | Flag.AETH),
    /** Response of an atomic operation. */
    RC_ATOMIC_ACKNOWLEDGE(0x12, Flag.RESPONSE | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.AETH | Flag.ATOMIC_ACK),
    /** Atomic compare-and-swap request. */
    RC_COMPARE_SWAP(0x13, Flag.REQUEST | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.ATOMIC_ETH),
    /** Atomic fetch-and-add request. */
    RC_FETCH_ADD(0x14, Flag.REQUEST | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.ATOMIC_ETH),
    /** Last packet of a SEND that invalidates a key. */
    RC_SEND_LAST_INVALIDATE(0x16, Flag.REQUEST | Flag.SEND | Flag.LAST | Flag.IETH),
    /** A SEND of one packet that invalidates a key. */
    RC_SEND_ONLY_INVALIDATE(0x17, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST | Flag.IETH),
    /** A FLUSH: a request to make what was written visible to all or persistent. */
    RC_FLUSH(0x1c, Flag.REQUEST | Flag.FLUSH | Flag.FIRST | Flag.LAST | Flag.RETH),
    /** An ATOMIC WRITE of eight bytes. */
    RC_ATOMIC_WRITE(0x1d, Flag.REQUEST | Flag.ATOMIC_WRITE | Flag.FIRST | Flag.LAST | Flag.RETH),

    /** First packet of an unreliable SEND. */
    UC_SEND_FIRST(0x20, Flag.REQUEST | Flag.SEND | Flag.FIRST),
    /** Middle packet of an unreliable SEND. */
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
    /** Middle packet of an unreliable RDMA WRITE. */
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

    /** A congestion notification: neither a request nor a response. See {@link CongestionNotification}. */
    CONGESTION_NOTIFICATION(0x81, 0),

    /** First packet of a SEND; extended reliable connection. */
    XRC_SEND_FIRST(0xa0, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.XRC),
    /** Middle packet of a SEND; extended reliable connection. */
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
    /** Middle packet of an RDMA WRITE; extended reliable connection. */
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
    /** An RDMA READ request; extended reliable connection. */
    XRC_READ_REQUEST(0xac, Flag.REQUEST | Flag.READ | Flag.FIRST | Flag.LAST | Flag.RETH | Flag.XRC),
    /** First packet of an RDMA READ response; extended reliable connection. */
    XRC_READ_RESPONSE_FIRST(0xad, Flag.RESPONSE | Flag.READ | Flag.FIRST | Flag.AETH),
    /** Middle packet of an RDMA READ response, without extension header; extended reliable connection. */
    XRC_READ_RESPONSE_MIDDLE(0xae, Flag.RESPONSE | Flag.READ | Flag.MIDDLE),
    /** Last packet of an RDMA READ response; extended reliable connection. */
    XRC_READ_RESPONSE_LAST(0xaf, Flag.RESPONSE | Flag.READ | Flag.LAST | Flag.AETH),
    /** An RDMA READ response of one packet; extended reliable connection. */
    XRC_READ_RESPONSE_ONLY(0xb0, Flag.RESPONSE | Flag.READ | Flag.FIRST | Flag.LAST | Flag.AETH),
    /** Acknowledgement, positive or negative; extended reliable connection. */
    XRC_ACKNOWLEDGE(0xb1, Flag.RESPONSE | Flag.FIRST | Flag.LAST | Flag.AETH),
    /** Response of an atomic operation; extended reliable connection. */
    XRC_ATOMIC_ACKNOWLEDGE(0xb2, Flag.RESPONSE | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.AETH | Flag.ATOMIC_ACK),
    /** Atomic compare-and-swap request; extended reliable connection. */
    XRC_COMPARE_SWAP(0xb3, Flag.REQUEST | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.ATOMIC_ETH | Flag.XRC),
    /** Atomic fetch-and-add request; extended reliable connection. */
    XRC_FETCH_ADD(0xb4, Flag.REQUEST | Flag.ATOMIC | Flag.FIRST | Flag.LAST | Flag.ATOMIC_ETH | Flag.XRC),
    /** Last packet of a SEND that invalidates a key; extended reliable connection. */
    XRC_SEND_LAST_INVALIDATE(0xb6, Flag.REQUEST | Flag.SEND | Flag.LAST | Flag.IETH | Flag.XRC),
    /** A SEND of one packet that invalidates a key; extended reliable connection. */
    XRC_SEND_ONLY_INVALIDATE(0xb7, Flag.REQUEST | Flag.SEND | Flag.FIRST | Flag.LAST | Flag.IETH | Flag.XRC),
    /** A FLUSH: a request to make what was written visible to all or persistent; extended reliable connection. */
    XRC_FLUSH(0xbc, Flag.REQUEST | Flag.FLUSH | Flag.FIRST | Flag.LAST | Flag.RETH | Flag.XRC),
    /** An ATOMIC WRITE of eight bytes; extended reliable connection. */
    XRC_ATOMIC_WRITE(0xbd, Flag.REQUEST | Flag.ATOMIC_WRITE | Flag.FIRST | Flag.LAST | Flag.RETH | Flag.XRC);

    /** The transports, by bits 7:5 of the opcode byte. */
    public enum Transport {
        /** Reliable connection. */
        RC,
        /** Unreliable connection. */
        UC,
        /** Unreliable datagram. */
        UD,
        /** Congestion notifications, for queue pairs of any transport. */
        CNP,
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
        static final int ATOMIC_WRITE = 1 << 17;
        static final int FLUSH = 1 << 18;

        private Flag() {}
    }

    private static final @Nullable Opcode[] BY_CODE = new @Nullable Opcode[256];

    static {
        for (Opcode opcode : values()) {
            BY_CODE[opcode.code] = opcode;
        }
    }

    /**
     * Bits that the opcodes of the extended reliable connection have in addition to those of the reliable connection.
     */
    private static final int EXTENDED = 0xa0;

    private final int code;
    private final int flags;

    private final Transport transport;
    private final int extensionOffset;
    private final int rethOffset;
    private final int headerLength;

    Opcode(int code, int flags) {
        this.code = code;
        this.flags = flags;
        this.transport = switch (code >> 5) {
            case 0 -> Transport.RC;
            case 1 -> Transport.UC;
            case 4 -> Transport.CNP;
            case EXTENDED >> 5 -> Transport.XRC;
            default -> Transport.UD;
        };
        this.extensionOffset = Bth.LENGTH + (has(Flag.XRC) ? XrcEth.LENGTH : 0);
        this.rethOffset = extensionOffset + (has(Flag.FLUSH) ? Feth.LENGTH : 0);
        this.headerLength = rethOffset
                + (has(Flag.DETH) ? Deth.LENGTH : 0)
                + (has(Flag.RETH) ? Reth.LENGTH : 0)
                + (has(Flag.ATOMIC_ETH) ? AtomicEth.LENGTH : 0)
                + (has(Flag.AETH) ? Aeth.LENGTH : 0)
                + (has(Flag.ATOMIC_ACK) ? AtomicAckEth.LENGTH : 0)
                + (has(Flag.IMM) ? ImmDt.LENGTH : 0)
                + (has(Flag.IETH) ? Ieth.LENGTH : 0);
    }

    /** Returns the operation of an opcode byte that is in the table. */
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

    /** Returns the operation of an opcode byte, or null if the byte is reserved or its transport is unsupported. */
    public static @Nullable Opcode of(int code) {
        return BY_CODE[code & 0xff];
    }

    /** Returns the opcode byte. */
    public int code() {
        return code;
    }

    /** Returns the transport of the operation. */
    public Transport transport() {
        return transport;
    }

    /** Returns the offset of the payload from the start of the BTH, in bytes. */
    public int headerLength() {
        return headerLength;
    }

    /** Returns whether the packet is sent by the requester. */
    public boolean isRequest() {
        return has(Flag.REQUEST);
    }

    /** Returns whether the packet is sent by the responder. */
    public boolean isResponse() {
        return has(Flag.RESPONSE);
    }

    /** Returns whether the packet belongs to a SEND. */
    public boolean isSend() {
        return has(Flag.SEND);
    }

    /** Returns whether the packet belongs to an RDMA WRITE. */
    public boolean isWrite() {
        return has(Flag.WRITE);
    }

    /** Returns whether the packet is an RDMA READ request or part of its response. */
    public boolean isRead() {
        return has(Flag.READ);
    }

    /** Returns whether the packet is the request or the response of an atomic operation. */
    public boolean isAtomic() {
        return has(Flag.ATOMIC);
    }

    /**
     * Returns whether the packet is the request of an ATOMIC WRITE, which unlike an RDMA WRITE has an explicit
     * response.
     */
    public boolean isAtomicWrite() {
        return has(Flag.ATOMIC_WRITE);
    }

    /** Returns whether the packet is the request of a FLUSH. It has a FETH before its RETH. */
    public boolean isFlush() {
        return has(Flag.FLUSH);
    }

    /**
     * Returns whether the packet requests an explicit response, and thus uses one of the responder's resources for READs
     * and atomics: an RDMA READ, an atomic operation, an ATOMIC WRITE or a FLUSH.
     */
    public boolean needsResponse() {
        return has(Flag.REQUEST) && has(Flag.READ | Flag.ATOMIC | Flag.ATOMIC_WRITE | Flag.FLUSH);
    }

    /** Returns whether the packet is the first of its message. */
    public boolean isFirst() {
        return has(Flag.FIRST);
    }

    /** Returns whether the packet is neither the first nor the last of its message. */
    public boolean isMiddle() {
        return has(Flag.MIDDLE);
    }

    /** Returns whether the packet is the last of its message. */
    public boolean isLast() {
        return has(Flag.LAST);
    }

    /** Returns whether an XRCETH follows the BTH, as in all requests of extended connections. */
    public boolean hasXrcEth() {
        return has(Flag.XRC);
    }

    /** Returns the offset from the start of the BTH to the first header after the BTH and the XRCETH, in bytes. */
    public int extensionOffset() {
        return extensionOffset;
    }

    /** Returns the offset from the start of the BTH to the RETH, in bytes, if the opcode has one. */
    public int rethOffset() {
        return rethOffset;
    }

    /**
     * Returns the reliable-connection counterpart of an extended operation, or this operation if it is not extended.
     */
    public Opcode connected() {
        return transport == Transport.XRC ? known(code & ~EXTENDED) : this;
    }

    /**
     * Returns the extended counterpart of a reliable-connection operation, or this operation if it is of another
     * transport.
     */
    public Opcode extended() {
        return transport == Transport.RC ? known(code | EXTENDED) : this;
    }

    /** Returns whether the packet has a DETH. */
    public boolean hasDeth() {
        return has(Flag.DETH);
    }

    /** Returns whether the packet has a RETH. */
    public boolean hasReth() {
        return has(Flag.RETH);
    }

    /** Returns whether the packet has an AtomicETH. */
    public boolean hasAtomicEth() {
        return has(Flag.ATOMIC_ETH);
    }

    /** Returns whether the packet has an AETH. */
    public boolean hasAeth() {
        return has(Flag.AETH);
    }

    /** Returns whether the packet has an AtomicAckETH, which follows the AETH. */
    public boolean hasAtomicAckEth() {
        return has(Flag.ATOMIC_ACK);
    }

    /** Returns whether the packet has immediate data, directly before the payload. */
    public boolean hasImmediate() {
        return has(Flag.IMM);
    }

    /** Returns whether the packet has an IETH, directly before the payload. */
    public boolean hasIeth() {
        return has(Flag.IETH);
    }

    /** Returns whether the packet completes a receive work request. */
    public boolean completesReceive() {
        return isRequest() && isLast() && (isSend() || hasImmediate());
    }
}
