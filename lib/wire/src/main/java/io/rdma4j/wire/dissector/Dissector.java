package io.rdma4j.wire.dissector;

import io.rdma4j.value.Gid;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.SelectivityLevel;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.AtomicAckEth;
import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Feth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.Timers;
import io.rdma4j.wire.cm.GsiPacket;
import java.lang.foreign.MemorySegment;
import java.util.Locale;

/**
 * Formats one packet as one line of text, for traces and messages. Any bytes give a line; no method throws.
 *
 * <pre>
 * 10.88.0.2 &gt; 10.88.0.1 RC_READ_REQUEST qp 0x11 psn 178919 ackreq va 0x56368b92b5f0 rkey 0x569 dmalen 64 len 0
 * 10.88.0.2 &gt; 10.88.0.1 RC_ACKNOWLEDGE qp 0x11 psn 4165501 ack msn 1 len 0
 * 10.88.0.1 &gt; 10.88.0.2 CM RTU id 0x910f3ce3 remote-id 0x8f011ff1
 * </pre>
 *
 * <p>Queue pair numbers, keys and IDs are in hexadecimal, PSNs and lengths in decimal. {@code len} is the length of the
 * payload in bytes, without padding. The methods allocate and are not meant for the hot path. Thread safe.
 */
public final class Dissector {
    private Dissector() {}

    /** Describes a frame. All its bytes must be in its memory. Its ICRC is not checked. */
    public static String line(Frame frame) {
        StringBuilder out = new StringBuilder(160);
        out.append(new Gid(frame.sourceHigh, frame.sourceLow).addressText())
                .append(" > ")
                .append(new Gid(frame.destinationHigh, frame.destinationLow).addressText())
                .append(' ');
        Packet packet = new Packet();
        Packet.Result result = packet.parse(frame);
        if (result != Packet.Result.OK) {
            unreadable(out, frame, result);
        } else if (GsiPacket.isGsi(packet) && packet.opcode() == Opcode.UD_SEND_ONLY) {
            mad(out, packet);
        } else {
            packet(out, packet);
        }
        return out.toString();
    }

    /**
     * Describes a CM message, without addresses.
     *
     * @param at offset of the MAD
     * @param length length of the MAD in bytes
     */
    public static String cmLine(MemorySegment s, long at, long length) {
        StringBuilder out = new StringBuilder(160);
        CmDissector.append(out, s, at, length);
        return out.toString();
    }

    private static void unreadable(StringBuilder out, Frame frame, Packet.Result result) {
        out.append("unreadable ").append(result);
        if (frame.length > 0) {
            int code = Bth.opcode(frame.segment, frame.offset);
            Opcode opcode = Opcode.of(code);
            out.append(" opcode ").append(opcode == null ? hex(code) : opcode.name());
        }
        out.append(" bytes ").append(frame.length);
    }

    private static void packet(StringBuilder out, Packet packet) {
        Opcode opcode = packet.opcode();
        MemorySegment s = packet.segment();
        out.append(opcode.name());
        out.append(" qp ").append(hex(packet.destinationQueuePair()));
        out.append(" psn ").append(packet.psn());
        flags(out, packet);
        if (opcode.hasXrcEth()) {
            out.append(" srq ").append(hex(packet.sharedReceiveQueue()));
        }
        if (opcode.hasDeth()) {
            long at = packet.dethOffset();
            out.append(" qkey ").append(hex(Deth.queueKey(s, at)));
            out.append(" srcqp ").append(hex(Deth.sourceQueuePair(s, at)));
        }
        if (opcode.isFlush()) {
            flush(out, Feth.parse(s, packet.fethOffset()));
        }
        if (opcode.hasReth()) {
            long at = packet.rethOffset();
            out.append(" va 0x").append(Long.toHexString(Reth.address(s, at)));
            out.append(" rkey ").append(hex(Reth.key(s, at)));
            out.append(" dmalen ").append(Integer.toUnsignedString(Reth.dmaLength(s, at)));
        }
        if (opcode.hasAtomicEth()) {
            atomic(out, opcode, AtomicEth.parse(s, packet.atomicEthOffset()));
        }
        if (opcode.hasAeth()) {
            out.append(' ').append(syndrome(packet.syndrome()));
            out.append(" msn ").append(Aeth.messageSequenceNumber(s, packet.aethOffset()));
        }
        if (opcode.hasAtomicAckEth()) {
            out.append(" original 0x").append(Long.toHexString(AtomicAckEth.original(s, packet.atomicAckEthOffset())));
        }
        if (opcode.hasImmediate()) {
            out.append(" imm ").append(hex(packet.immediate()));
        }
        if (opcode.hasIeth()) {
            out.append(" inv ").append(hex(packet.invalidateKey()));
        }
        out.append(" len ").append(packet.payloadLength());
    }

    private static void flags(StringBuilder out, Packet packet) {
        if (packet.acknowledgeRequest()) {
            out.append(" ackreq");
        }
        if (packet.solicited()) {
            out.append(" se");
        }
        if (Bth.migrated(packet.segment(), packet.frame().offset)) {
            out.append(" migreq");
        }
        if (packet.partitionKey() != GsiPacket.PARTITION_KEY) {
            out.append(" pkey ").append(hex(packet.partitionKey()));
        }
    }

    private static void flush(StringBuilder out, Feth header) {
        int placement = header.placement();
        int others = placement;
        for (PlacementType type : PlacementType.values()) {
            if ((placement & type.bit()) != 0) {
                out.append(' ').append(type.name().toLowerCase(Locale.ROOT));
                others &= ~type.bit();
            }
        }
        if (others != 0 || placement == 0) {
            out.append(" placement ").append(hex(placement));
        }
        int selectivity = header.selectivity();
        if (selectivity == SelectivityLevel.RANGE.code()) {
            out.append(" range");
        } else if (selectivity == SelectivityLevel.REGION.code()) {
            out.append(" region");
        } else {
            out.append(" selectivity ").append(selectivity);
        }
    }

    private static void atomic(StringBuilder out, Opcode opcode, AtomicEth header) {
        out.append(" va 0x").append(Long.toHexString(header.address()));
        out.append(" rkey ").append(hex(header.key()));
        if (opcode.connected() == Opcode.RC_FETCH_ADD) {
            out.append(" add 0x").append(Long.toHexString(header.swapOrAdd()));
        } else {
            out.append(" compare 0x").append(Long.toHexString(header.compare()));
            out.append(" swap 0x").append(Long.toHexString(header.swapOrAdd()));
        }
    }

    /** Describes a syndrome: {@code "ack"}, {@code "rnr-nak 0.01ms"}, {@code "nak remote-access-error"}. */
    public static String syndrome(int syndrome) {
        if (Aeth.isAck(syndrome)) {
            return syndrome == Aeth.ACK ? "ack" : "ack credits " + (syndrome & Aeth.ACK);
        }
        if (Aeth.isRnrNak(syndrome)) {
            long hundredths = Timers.rnrNakDelayNanos(syndrome) / 10_000;
            return "rnr-nak " + hundredths / 100 + "." + hundredths / 10 % 10 + hundredths % 10 + "ms";
        }
        return switch (syndrome) {
            case Aeth.NAK_PSN_SEQUENCE_ERROR -> "nak psn-sequence-error";
            case Aeth.NAK_INVALID_REQUEST -> "nak invalid-request";
            case Aeth.NAK_REMOTE_ACCESS_ERROR -> "nak remote-access-error";
            case Aeth.NAK_REMOTE_OPERATIONAL_ERROR -> "nak remote-operational-error";
            default -> "syndrome " + hex(syndrome);
        };
    }

    private static void mad(StringBuilder out, Packet packet) {
        CmDissector.append(out, packet.payloadSegment(), packet.payloadOffset(), packet.payloadLength());
        int queueKey = Deth.queueKey(packet.segment(), packet.dethOffset());
        if (queueKey != GsiPacket.QUEUE_KEY) {
            out.append(" qkey ").append(hex(queueKey));
        }
        if (packet.partitionKey() != GsiPacket.PARTITION_KEY) {
            out.append(" pkey ").append(hex(packet.partitionKey()));
        }
    }

    static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }
}
