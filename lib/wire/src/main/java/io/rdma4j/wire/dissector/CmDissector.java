package io.rdma4j.wire.dissector;

import io.rdma4j.value.PathMtu;
import io.rdma4j.wire.cm.Apr;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.Drep;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.Lap;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.Rtu;
import io.rdma4j.wire.cm.ServiceId;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import java.lang.foreign.MemorySegment;

/** Formats messages of the connection manager. */
final class CmDissector {
    private CmDissector() {}

    /** Appends a message, without addresses. */
    static void append(StringBuilder out, MemorySegment s, long at, long length) {
        CmMessage message = CmMessage.parse(s, at, length);
        if (message == null) {
            CmMad.Result result = CmMad.check(s, at, length);
            out.append("MAD ").append(result);
            if (result == CmMad.Result.UNKNOWN_ATTRIBUTE) {
                out.append(' ').append(Dissector.hex(CmMad.attributeId(s, at)));
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
        out.append(" reason ").append(rej.reasonText());
    }

    private static void mra(StringBuilder out, Mra mra) {
        ids(out, mra.localCommunicationId(), mra.remoteCommunicationId());
        out.append(" of ").append(messageName(mra.message(), "LAP"));
        out.append(" service-timeout ").append(mra.serviceTimeout());
    }

    private static void dreq(StringBuilder out, Dreq dreq) {
        ids(out, dreq.localCommunicationId(), dreq.remoteCommunicationId());
        out.append(" remote-qp ").append(Dissector.hex(dreq.remoteQueuePair()));
    }

    private static void lap(StringBuilder out, Lap lap) {
        ids(out, lap.localCommunicationId(), lap.remoteCommunicationId());
        out.append(" remote-qp ").append(Dissector.hex(lap.remoteQueuePair()));
    }

    private static void apr(StringBuilder out, Apr apr) {
        ids(out, apr.localCommunicationId(), apr.remoteCommunicationId());
        out.append(" status ").append(apr.status());
    }

    private static void sidrReq(StringBuilder out, SidrReq request) {
        out.append(" request ").append(Dissector.hex(request.requestId()));
        out.append(" service ").append(ServiceId.toString(request.serviceId()));
        addresses(out, request.privateData());
    }

    private static void sidrRep(StringBuilder out, SidrRep reply) {
        out.append(" request ").append(Dissector.hex(reply.requestId()));
        out.append(" service ").append(ServiceId.toString(reply.serviceId()));
        out.append(" status ").append(reply.status());
        out.append(" qp ").append(Dissector.hex(reply.queuePair()));
        out.append(" qkey ").append(Dissector.hex(reply.queueKey()));
    }

    private static void req(StringBuilder out, Req req) {
        out.append(" id ").append(Dissector.hex(req.localCommunicationId()));
        out.append(" service ").append(ServiceId.toString(req.serviceId()));
        out.append(req.isExtended() ? " xrc-qp " : " qp ").append(Dissector.hex(req.localQueuePair()));
        out.append(" psn ").append(req.startingPsn());
        out.append(" depths ").append(req.responderResources()).append('/').append(req.initiatorDepth());
        out.append(" retries ").append(req.retryCount()).append('/').append(req.rnrRetryCount());
        int mtu = req.pathMtu();
        boolean known = mtu >= PathMtu.MTU_256.code() && mtu <= PathMtu.MTU_4096.code();
        out.append(known ? " mtu " : " mtu-code ")
                .append(known ? PathMtu.ofCode(mtu).bytes() : mtu);
        addresses(out, req.privateData());
    }

    private static void rep(StringBuilder out, Rep rep) {
        ids(out, rep.localCommunicationId(), rep.remoteCommunicationId());
        boolean plain = rep.localEndToEndContext() == 0;
        out.append(plain ? " qp " : " xrc-qp ")
                .append(Dissector.hex(plain ? rep.localQueuePair() : rep.localEndToEndContext()));
        out.append(" psn ").append(rep.startingPsn());
        out.append(" depths ").append(rep.responderResources()).append('/').append(rep.initiatorDepth());
        out.append(" rnr-retries ").append(rep.rnrRetryCount());
    }

    private static void ids(StringBuilder out, int local, int remote) {
        out.append(" id ").append(Dissector.hex(local)).append(" remote-id ").append(Dissector.hex(remote));
    }

    private static void addresses(StringBuilder out, PrivateData data) {
        IpCmHeader header = IpCmHeader.parse(data);
        if (header == null) {
            out.append(" no-ip-header");
            return;
        }
        boolean isIpv4 = header.isIpv4();
        out.append(" from ")
                .append(isIpv4 ? "" : "[")
                .append(header.source().addressText())
                .append(isIpv4 ? ":" : "]:");
        out.append(header.sourcePort());
        out.append(" to ").append(header.destination().addressText());
    }

    private static String messageName(int message, String nameOfTwo) {
        return switch (message) {
            case 0 -> "REQ";
            case 1 -> "REP";
            case 2 -> nameOfTwo;
            default -> "message " + message;
        };
    }
}
