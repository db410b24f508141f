package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/** A queue of MADs to be sent, in order. */
final class Outbox {
    /** Limit for responses to received MADs, so that a flood does not grow the queue without bound. */
    private static final int MAX_PENDING_RESPONSES = 1024;

    /** A MAD with its destination. Its bytes are never modified, since a connection may retransmit it. */
    record Outgoing(MemorySegment mad, CmRoute route, int trafficClass, int flowLabel) {
        static Outgoing of(CmMessage message, long transactionId, CmRoute route, int trafficClass, int flowLabel) {
            MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
            message.emit(mad, 0, transactionId);
            return new Outgoing(mad.asReadOnly(), route, trafficClass, flowLabel);
        }
    }

    private final ArrayDeque<Outgoing> pending = new ArrayDeque<>();
    private final CmCounters counters;

    Outbox(CmCounters counters) {
        this.counters = counters;
    }

    /** Enqueues a MAD caused by a call or a deadline. */
    void send(Outgoing outgoing) {
        pending.add(outgoing);
    }

    /**
     * Enqueues a response to a received MAD, or drops it if too many MADs are pending; peers retransmit their requests.
     */
    boolean sendResponse(Outgoing outgoing) {
        if (pending.size() >= MAX_PENDING_RESPONSES) {
            counters.responsesDropped++;
            return false;
        }
        pending.add(outgoing);
        return true;
    }

    boolean poll(CmDatagram out) {
        Outgoing next = pending.poll();
        if (next == null) {
            return false;
        }
        out.mad = next.mad;
        out.localHigh = next.route.local().high();
        out.localLow = next.route.local().low();
        out.remoteHigh = next.route.remote().high();
        out.remoteLow = next.route.remote().low();
        out.scope = next.route.scope();
        out.trafficClass = next.trafficClass;
        out.flowLabel = next.flowLabel;
        counters.madsSent++;
        return true;
    }
}
