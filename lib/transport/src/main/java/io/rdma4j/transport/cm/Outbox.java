package io.rdma4j.transport.cm;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** A queue of MADs to be sent, in order. */
final class Outbox {
    /** Limit for responses to received MADs, so that a flood does not grow the queue without bound. */
    private static final int MAX_PENDING_RESPONSES = 1024;

    private final ArrayDeque<CmDatagram> pending = new ArrayDeque<>();
    private final CmCounters counters;

    Outbox(CmCounters counters) {
        this.counters = counters;
    }

    /** Enqueues a MAD caused by a call or a deadline. */
    void send(CmDatagram datagram) {
        pending.add(datagram);
    }

    /**
     * Enqueues a response to a received MAD, or drops it if too many MADs are pending; peers retransmit their requests.
     */
    boolean sendResponse(CmDatagram datagram) {
        if (pending.size() >= MAX_PENDING_RESPONSES) {
            counters.responsesDropped++;
            return false;
        }
        pending.add(datagram);
        return true;
    }

    @Nullable
    CmDatagram poll() {
        CmDatagram next = pending.poll();
        if (next != null) {
            counters.madsSent++;
        }
        return next;
    }
}
