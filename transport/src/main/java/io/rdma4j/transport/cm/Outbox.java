package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/** MADs that wait to be handed out, in order. */
final class Outbox {
    /** Answers to what comes from the network stop here, so that a flood does not grow the queue without bound. */
    private static final int MAX_WAITING_ANSWERS = 1024;

    /** One MAD and where it goes. Its bytes are not changed once it is made: a connection may send it again. */
    record Outgoing(MemorySegment mad, CmRoute route, int trafficClass, int flowLabel) {
        static Outgoing of(CmMessage message, long transactionId, CmRoute route, int trafficClass, int flowLabel) {
            MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
            message.emit(mad, 0, transactionId);
            return new Outgoing(mad.asReadOnly(), route, trafficClass, flowLabel);
        }
    }

    private final ArrayDeque<Outgoing> waiting = new ArrayDeque<>();
    private final CmCounters counters;

    Outbox(CmCounters counters) {
        this.counters = counters;
    }

    /** Queues what a call or a deadline makes us send. */
    void send(Outgoing outgoing) {
        waiting.add(outgoing);
    }

    /** Queues what a received MAD makes us send, unless too much waits: peers repeat what is not answered. */
    boolean answer(Outgoing outgoing) {
        if (waiting.size() >= MAX_WAITING_ANSWERS) {
            counters.answersDropped++;
            return false;
        }
        waiting.add(outgoing);
        return true;
    }

    boolean poll(CmDatagram out) {
        Outgoing next = waiting.poll();
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
