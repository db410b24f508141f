package io.rdma4j.bench.plan;

import static io.rdma4j.bench.plan.Experiments.pair;

import io.rdma4j.bench.report.Unit;
import io.rdma4j.bench.worker.Figures;

/** The rows of the floor: plain UDP system calls. */
final class FloorRows {
    private final Plan plan;

    private FloorRows(Plan plan) {
        this.plan = plan;
    }

    static void addTo(Plan plan) {
        FloorRows rows = new FloorRows(plan);
        rows.latencies();
        rows.streams();
    }

    private RowBuilder row(String id, String title) {
        return new RowBuilder(plan, id, Experiments.FLOOR, title);
    }

    private void latencies() {
        row("raw-64", "64 B, one way, polling").from(1).latency(pair("raw-ping-pong", "size", 64));
        row(Experiments.RAW_LATENCY, "64 B with CRC, one way, polling")
                .latency(pair("raw-ping-pong", "size", 64, "crc", true));
        row(Experiments.RAW_ROUND_TRIP, "64 B with CRC, round trip, polling")
                .figure(
                        Figures.ROUND_TRIP_P50_MICROS,
                        Unit.MICROSECONDS,
                        pair("raw-ping-pong", "size", 64, "crc", true));
        row(Experiments.RAW_BLOCKING, "64 B with CRC, one way, blocking")
                .latency(pair("raw-ping-pong", "size", 64, "crc", true, "wait", "block"));
        row("raw-crc-4kib", "4 KiB with CRC, one way, polling")
                .from(1)
                .latency(pair("raw-ping-pong", "size", 4096, "crc", true));
    }

    /** Returns the floor of all throughputs. */
    static Experiment stream() {
        return pair("raw-stream", "size", 4096, "segments", 15, "copy", true, "crc", true);
    }

    private void streams() {
        row("raw-stream-single", "4096 B packets with copy and CRC, one a call")
                .from(1)
                .throughput(pair("raw-stream", "size", 4096, "copy", true, "crc", true));
        row("raw-stream", "4096 B packets, 15 a call")
                .from(1)
                .throughput(pair("raw-stream", "size", 4096, "segments", 15));
        row(Experiments.RAW_STREAM, "4096 B packets with copy and CRC, 15 a call")
                .throughput(stream());
        row(Experiments.RAW_RATE, "96 B packets with copy and CRC, 64 a call")
                .rate(pair("raw-stream", "size", 64, "segments", 64, "copy", true, "crc", true));
    }
}
