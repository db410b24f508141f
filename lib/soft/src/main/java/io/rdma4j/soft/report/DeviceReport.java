package io.rdma4j.soft.report;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;

/**
 * The state of an open device of one process.
 *
 * @param name the name of the device
 * @param networkInterface the name of its network interface
 * @param queuePairs the number of its open queue pairs
 * @param counters the sums of the counters of its queue pairs, open and closed, by the names of {@code hw_counters}
 */
public record DeviceReport(String name, String networkInterface, int queuePairs, Map<String, Long> counters) {
    void write(DataOutput out) throws IOException {
        ReportFormat.writeText(out, name);
        ReportFormat.writeText(out, networkInterface);
        out.writeInt(queuePairs);
        ReportFormat.writeCounters(out, counters);
    }

    static DeviceReport read(DataInput in) throws IOException {
        return new DeviceReport(
                ReportFormat.readText(in), ReportFormat.readText(in), in.readInt(), ReportFormat.readCounters(in));
    }
}
