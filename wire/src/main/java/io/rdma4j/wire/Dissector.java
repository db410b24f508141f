package io.rdma4j.wire;

import io.rdma4j.wire.cm.Apr;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.Drep;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.GsiPacket;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.Lap;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.RejectReason;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.Rtu;
import io.rdma4j.wire.cm.ServiceId;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import java.lang.foreign.MemorySegment;

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
        out.append(Gid.toString(frame.sourceHigh, frame.sourceLow))
                .append(" > ")
                .append(Gid.toString(frame.destinationHigh, frame.destinationLow))
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
        cm(out, s, at, length);
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
        cm(out, packet.segment(), packet.payloadOffset(), packet.payloadLength());
        int queueKey = Deth.queueKey(packet.segment(), packet.dethOffset());
        if (queueKey != GsiPacket.QUEUE_KEY) {
            out.append(" qkey ").append(hex(queueKey));
        }
        if (packet.partitionKey() != GsiPacket.PARTITION_KEY) {
            out.append(" pkey ").append(hex(packet.partitionKey()));
        }
    }

    private static void cm(StringBuilder out, MemorySegment s, long at, long length) {
        CmMessage message = CmMessage.parse(s, at, length);
        if (message == null) {
            CmMad.Result result = CmMad.check(s, at, length);
            out.append("MAD ").append(result);
            if (result == CmMad.Result.UNKNOWN_ATTRIBUTE) {
                out.append(' ').append(hex(CmMad.attributeId(s, at)));
            }
            out.append(" len ").append(length);
            return;
        }
        out.append("CM ").append(message.attribute());
        switch (message) {
            case Req req -> req(out, req);
            case Rep rep -> rep(out, rep);
            case Rej rej -> rej(out, rej);
            case Mra mra -> mra(out, mra);
            case Rtu rtu -> ids(out, rtu.localCommunicationId(), rtu.remoteCommunicationId());
            case Dreq dreq -> dreq(out, dreq);
            case Drep drep -> ids(out, drep.localCommunicationId(), drep.remoteCommunicationId());
            case SidrReq request -> sidrReq(out, request);
            case SidrRep reply -> sidrRep(out, reply);
            case Lap lap -> lap(out, lap);
            case Apr apr -> apr(out, apr);
        }
    }

    private static void rej(StringBuilder out, Rej rej) {
        ids(out, rej.localCommunicationId(), rej.remoteCommunicationId());
        out.append(" of ").append(messageName(rej.message(), "other"));
        out.append(" reason ").append(RejectReason.describe(rej.reason()));
    }

    private static void mra(StringBuilder out, Mra mra) {
        ids(out, mra.localCommunicationId(), mra.remoteCommunicationId());
        out.append(" of ").append(messageName(mra.message(), "LAP"));
        out.append(" service-timeout ").append(mra.serviceTimeout());
    }

    private static void dreq(StringBuilder out, Dreq dreq) {
        ids(out, dreq.localCommunicationId(), dreq.remoteCommunicationId());
        out.append(" remote-qp ").append(hex(dreq.remoteQueuePair()));
    }

    private static void lap(StringBuilder out, Lap lap) {
        ids(out, lap.localCommunicationId(), lap.remoteCommunicationId());
        out.append(" remote-qp ").append(hex(lap.remoteQueuePair()));
    }

    private static void apr(StringBuilder out, Apr apr) {
        ids(out, apr.localCommunicationId(), apr.remoteCommunicationId());
        out.append(" status ").append(apr.status());
    }

    private static void sidrReq(StringBuilder out, SidrReq request) {
        out.append(" request ").append(hex(request.requestId()));
        out.append(" service ").append(ServiceId.toString(request.serviceId()));
        addresses(out, request.privateData());
    }

    private static void sidrRep(StringBuilder out, SidrRep reply) {
        out.append(" request ").append(hex(reply.requestId()));
        out.append(" service ").append(ServiceId.toString(reply.serviceId()));
        out.append(" status ").append(reply.status());
        out.append(" qp ").append(hex(reply.queuePair()));
        out.append(" qkey ").append(hex(reply.queueKey()));
    }

    private static void req(StringBuilder out, Req req) {
        out.append(" id ").append(hex(req.localCommunicationId()));
        out.append(" service ").append(ServiceId.toString(req.serviceId()));
        out.append(req.isExtended() ? " xrc-qp " : " qp ").append(hex(req.localQueuePair()));
        out.append(" psn ").append(req.startingPsn());
        out.append(" depths ").append(req.responderResources()).append('/').append(req.initiatorDepth());
        out.append(" retries ").append(req.retryCount()).append('/').append(req.rnrRetryCount());
        boolean known = req.pathMtu() >= 1 && req.pathMtu() <= 5;
        out.append(known ? " mtu " : " mtu-code ").append(known ? 128 << req.pathMtu() : req.pathMtu());
        addresses(out, req.privateData());
    }

    private static void rep(StringBuilder out, Rep rep) {
        ids(out, rep.localCommunicationId(), rep.remoteCommunicationId());
        boolean plain = rep.localEndToEndContext() == 0;
        out.append(plain ? " qp " : " xrc-qp ").append(hex(plain ? rep.localQueuePair() : rep.localEndToEndContext()));
        out.append(" psn ").append(rep.startingPsn());
        out.append(" depths ").append(rep.responderResources()).append('/').append(rep.initiatorDepth());
        out.append(" rnr-retries ").append(rep.rnrRetryCount());
    }

    private static void ids(StringBuilder out, int local, int remote) {
        out.append(" id ").append(hex(local)).append(" remote-id ").append(hex(remote));
    }

    private static void addresses(StringBuilder out, PrivateData data) {
        IpCmHeader header = IpCmHeader.parse(data);
        if (header == null) {
            out.append(" no-ip-header");
            return;
        }
        boolean isIpv4 = header.isIpv4();
        out.append(" from ").append(isIpv4 ? "" : "[").append(header.source()).append(isIpv4 ? ":" : "]:");
        out.append(header.sourcePort());
        out.append(" to ").append(header.destination());
    }

    private static String messageName(int message, String nameOfTwo) {
        return switch (message) {
            case 0 -> "REQ";
            case 1 -> "REP";
            case 2 -> nameOfTwo;
            default -> "message " + message;
        };
    }

    private static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }
}
