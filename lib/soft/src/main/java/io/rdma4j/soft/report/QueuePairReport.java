package io.rdma4j.soft.report;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;

/**
 * The state of an open queue pair.
 *
 * @param device the name of its device
 * @param number its number, 24 bits
 * @param type the name of its {@link io.rdma4j.value.QueuePairType}
 * @param state the name of its {@link io.rdma4j.value.QueuePairState}
 * @param local the local address; empty while there is no path
 * @param peer the peer's address; empty for datagrams and while there is no path
 * @param peerNumber the number of the peer's queue pair; 0 for datagrams and while there is no path
 * @param sentBytes the bytes of all sent frames, from BTH to ICRC
 * @param receivedBytes the bytes of all received frames, from BTH to ICRC
 * @param counters its counters by the names of {@code hw_counters}
 */
public record QueuePairReport(
        String device,
        int number,
        String type,
        String state,
        String local,
        String peer,
        int peerNumber,
        long sentBytes,
        long receivedBytes,
        Map<String, Long> counters) {
    void write(DataOutput out) throws IOException {
        ReportFormat.writeText(out, device);
        out.writeInt(number);
        ReportFormat.writeText(out, type);
        ReportFormat.writeText(out, state);
        ReportFormat.writeText(out, local);
        ReportFormat.writeText(out, peer);
        out.writeInt(peerNumber);
        out.writeLong(sentBytes);
        out.writeLong(receivedBytes);
        ReportFormat.writeCounters(out, counters);
    }

    static QueuePairReport read(DataInput in) throws IOException {
        return new QueuePairReport(
                ReportFormat.readText(in),
                in.readInt(),
                ReportFormat.readText(in),
                ReportFormat.readText(in),
                ReportFormat.readText(in),
                ReportFormat.readText(in),
                in.readInt(),
                in.readLong(),
                in.readLong(),
                ReportFormat.readCounters(in));
    }
}
