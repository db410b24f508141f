package io.rdma4j.soft.engine;

import io.rdma4j.sharing.Port;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.soft.events.ReceiverNotReadyEvent;
import io.rdma4j.soft.events.RetransmissionEvent;
import io.rdma4j.transport.QueuePairCounters;

/**
 * Reports the retransmissions and RNR NAKs of one queue pair to Flight Recorder, from the differences of its counters. Used
 * under the engine lock, and only while Flight Recorder is on.
 */
final class RetransmissionObserver {
    private final DrivenQueuePair queuePair;
    private final QueuePairCounters counters;
    private long packets;
    private long timeouts;
    private long sequenceNaks;
    private long lostResponses;
    private long tailLossProbes;
    private long receivedRnrNaks;
    private long sentRnrNaks;

    /** The cause of the retransmissions that follow, which may take several duty cycles. */
    private String cause = "";

    RetransmissionObserver(DrivenQueuePair queuePair) {
        this.queuePair = queuePair;
        counters = queuePair.machine.counters();
    }

    /** Records the current counters as the last reported ones. */
    void remember() {
        packets = counters.retransmittedPackets;
        timeouts = counters.timeouts;
        sequenceNaks = counters.receivedSequenceErrors;
        lostResponses = counters.impliedNaks;
        tailLossProbes = counters.tailLossProbes;
        receivedRnrNaks = counters.receivedRnrNaks;
        sentRnrNaks = counters.sentRnrNaks;
    }

    /** Writes events for the changes since the last report. */
    void report() {
        long received = counters.receivedRnrNaks - receivedRnrNaks;
        long sent = counters.sentRnrNaks - sentRnrNaks;
        if (received + sent > 0) {
            reportReceiverNotReady(received, sent);
        }
        if (received > 0) {
            cause = "receiver not ready";
        }
        if (counters.tailLossProbes > tailLossProbes) {
            cause = "tail-loss probe";
        }
        if (counters.impliedNaks > lostResponses) {
            cause = "lost response";
        }
        if (counters.receivedSequenceErrors > sequenceNaks) {
            cause = "sequence NAK";
        }
        if (counters.timeouts > timeouts) {
            cause = "acknowledgement timeout";
        }
        if (counters.retransmittedPackets > packets || counters.timeouts > timeouts) {
            reportRetransmission();
        }
        remember();
    }

    private void reportReceiverNotReady(long received, long sent) {
        ReceiverNotReadyEvent event = new ReceiverNotReadyEvent();
        if (event.shouldCommit()) {
            event.local = local();
            event.peer = peer();
            event.queuePair = FlightEvents.queuePair(queuePair.machine.number());
            event.received = received;
            event.sent = sent;
            event.commit();
        }
    }

    private void reportRetransmission() {
        RetransmissionEvent event = new RetransmissionEvent();
        if (event.shouldCommit()) {
            event.local = local();
            event.peer = peer();
            event.queuePair = FlightEvents.queuePair(queuePair.machine.number());
            event.cause = cause;
            event.packets = counters.retransmittedPackets - packets;
            event.timeouts = counters.timeouts - timeouts;
            event.sequenceNaks = counters.receivedSequenceErrors - sequenceNaks;
            event.lostResponses = counters.impliedNaks - lostResponses;
            event.tailLossProbes = counters.tailLossProbes - tailLossProbes;
            event.commit();
        }
    }

    private String local() {
        Port port = queuePair.port;
        return port == null ? "" : FlightEvents.address(port.address());
    }

    private String peer() {
        return FlightEvents.address(queuePair.remoteHigh, queuePair.remoteLow);
    }
}
