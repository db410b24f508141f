package io.rdma4j.soft.device;

import io.rdma4j.sharing.SharingCounters;
import io.rdma4j.soft.engine.EngineCounters;
import io.rdma4j.transport.QueuePairCounters;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counters by name, as Linux shows them in {@code hw_counters}.
 *
 * <p>The names are the same as in rdma_rxe if it has the counter, otherwise they are taken from other drivers or similar to
 * theirs.
 */
final class Counters {
    private Counters() {}

    /** Returns the counters of one queue pair. */
    static Map<String, Long> of(QueuePairCounters c) {
        Map<String, Long> counts = new LinkedHashMap<>();
        counts.put("sent_pkts", c.sentPackets);
        counts.put("rcvd_pkts", c.receivedPackets);
        counts.put("dropped_pkts", c.droppedPackets);
        counts.put("retransmitted_pkts", c.retransmittedPackets);
        counts.put("rdma_sends", c.completedSends);
        counts.put("rdma_recvs", c.completedReceives);
        counts.put("duplicate_request", c.duplicateRequests);
        counts.put("out_of_seq_request", c.outOfSequenceRequests);
        counts.put("rcvd_rnr_err", c.receivedRnrNaks);
        counts.put("send_rnr_err", c.sentRnrNaks);
        counts.put("rcvd_seq_err", c.receivedSequenceErrors);
        counts.put("send_seq_err", c.sentSequenceErrors);
        counts.put("implied_nak_seq_err", c.impliedNaks);
        counts.put("ack_deferred", c.coalescedAcks);
        counts.put("local_ack_timeout_err", c.timeouts);
        counts.put("tail_loss_probes", c.tailLossProbes);
        counts.put("idle_probes", c.idleProbes);
        counts.put("retry_exceeded_err", c.retryExceededErrors);
        counts.put("retry_rnr_exceeded_err", c.rnrRetryExceededErrors);
        counts.put("np_ecn_marked_roce_packets", c.congestionMarks);
        counts.put("np_cnp_sent", c.sentCongestionNotifications);
        counts.put("rp_cnp_handled", c.receivedCongestionNotifications);
        counts.put("remote_access_err", c.keyViolations);
        counts.put("unexpected_responses", c.unexpectedResponses);
        counts.put("dropped_message", c.droppedMessages);
        counts.put("bad_source", c.badSource);
        counts.put("out_of_window_psns", c.outOfWindowPsns);
        counts.put("spoofing_alarms", c.spoofingAlarms);
        counts.put("bad_source_port", c.badSourcePort);
        counts.put("changed_source_port", c.changedSourcePort);
        counts.put("bad_pkey", c.badPartitionKey);
        counts.put("bad_qkey", c.badQueueKey);
        counts.put("bad_opcode", c.badOpcode);
        counts.put("bad_state", c.badState);
        return counts;
    }

    /** Adds counters to others of the same names. */
    static void add(Map<String, Long> to, Map<String, Long> counts) {
        counts.forEach((name, count) -> to.merge(name, count, Long::sum));
    }

    /** Returns the counters of the engines and of sharing, which cover all devices of this process. */
    static Map<String, Long> of(EngineCounters c, SharingCounters shared) {
        Map<String, Long> counts = new LinkedHashMap<>();
        counts.put("process_sent_pkts", c.sentPackets);
        counts.put("process_rcvd_pkts", c.receivedPackets);
        counts.put("process_memory_sent_pkts", shared.memorySentPackets);
        counts.put("process_memory_rcvd_pkts", shared.memoryReceivedPackets);
        counts.put("process_memory_drops", shared.memoryDrops);
        counts.put("process_relayed_pkts", shared.relayedPackets);
        counts.put("process_relay_drops", shared.relayDrops);
        counts.put("process_handed_over_pkts", c.handedOverPackets);
        counts.put("process_handover_drops", c.handoverDrops);
        counts.put("process_icrc_err", c.icrcErrors);
        counts.put("process_malformed_pkts", c.tooShort + c.truncated + c.badOpcode + c.badVersion);
        counts.put("process_no_such_qp", c.badQueuePairNumber);
        counts.put("process_bad_transport", c.badTransport);
        counts.put("process_bad_pkey", c.badPartitionKey);
        counts.put("process_bad_gsi_qkey", c.badQueueKey);
        counts.put("process_bad_destination", c.badDestination);
        counts.put("process_qp_faults", c.queuePairFailures);
        counts.put("process_device_faults", c.deviceFaults);
        counts.put("process_input_faults", c.inputFaults);
        counts.put("process_output_faults", c.outputFaults);
        return counts;
    }
}
