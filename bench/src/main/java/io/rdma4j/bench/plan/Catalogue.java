package io.rdma4j.bench.plan;

import io.rdma4j.bench.report.Unit;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.Parameters;
import java.util.List;

/** All that is measured, in the order of the table. */
public final class Catalogue {
    static final String FLOOR = "the floor: UDP by system calls from Java";
    static final String VERBS = "this project: verbs";
    static final String SOCKETS = "this project: RDMA sockets";
    static final String JAVA_PEERS = "peers in Java";

    private static final String RAW_LATENCY = "raw-crc-64";
    private static final String RAW_ROUND_TRIP = "raw-round-trip-64";
    private static final String RAW_BLOCKING = "raw-block-64";
    private static final String RAW_STREAM = "raw-stream-crc";

    private final Plan plan = new Plan();

    private Catalogue() {}

    /** The plan for a pace. */
    public static Plan plan(Pace pace) {
        Catalogue catalogue = new Catalogue();
        catalogue.floor();
        catalogue.verbsLatency();
        catalogue.verbsThroughput();
        catalogue.sockets();
        catalogue.javaPeers();
        return catalogue.plan;
    }

    private RowBuilder row(String group, String id, String title) {
        return new RowBuilder(plan, id, group, title);
    }

    private static Experiment pair(String test, Object... parameters) {
        return new PairExperiment(test, List.of(), Parameters.of(parameters));
    }

    private void floor() {
        row(FLOOR, "raw-64", "64 B, one way, polling").latency(pair("raw-ping-pong", "size", 64));
        row(FLOOR, RAW_LATENCY, "64 B with CRC, one way, polling")
                .latency(pair("raw-ping-pong", "size", 64, "crc", true));
        row(FLOOR, RAW_ROUND_TRIP, "64 B with CRC, round trip, polling")
                .figure(
                        Figures.ROUND_TRIP_P50_MICROS,
                        Unit.MICROSECONDS,
                        pair("raw-ping-pong", "size", 64, "crc", true));
        row(FLOOR, RAW_BLOCKING, "64 B with CRC, one way, blocking")
                .latency(pair("raw-ping-pong", "size", 64, "crc", true, "wait", "block"));
        row(FLOOR, "raw-stream-single", "4096 B packets with copy and CRC, one a call")
                .throughput(pair("raw-stream", "size", 4096, "copy", true, "crc", true));
        row(FLOOR, "raw-stream", "4096 B packets, 15 a call")
                .throughput(pair("raw-stream", "size", 4096, "segments", 15));
        row(FLOOR, RAW_STREAM, "4096 B packets with copy and CRC, 15 a call")
                .throughput(pair("raw-stream", "size", 4096, "segments", 15, "copy", true, "crc", true));
        row(FLOOR, "raw-rate", "96 B packets with copy and CRC, 64 a call")
                .rate(pair("raw-stream", "size", 64, "segments", 64, "copy", true, "crc", true));
    }

    private void verbsLatency() {
        row(VERBS, "write-64", "64 B WRITE, one way, peer polls memory")
                .rawAtMost(RAW_LATENCY, 1.25)
                .latency(pair("rdma-latency", "operation", "write", "size", 64));
        row(VERBS, "send-64", "64 B SEND, one way, polling")
                .rawAtMost(RAW_LATENCY, 1.25)
                .latency(pair("rdma-latency", "operation", "send", "size", 64));
        row(VERBS, "read-64", "64 B READ, round trip, polling")
                .rawAtMost(RAW_ROUND_TRIP, 1.3)
                .latency(pair("rdma-latency", "operation", "read", "size", 64));
        row(VERBS, "cas-8", "compare-and-swap, round trip, polling")
                .rawAtMost(RAW_ROUND_TRIP, 1.3)
                .latency(pair("rdma-latency", "operation", "compare-and-swap", "size", 8));
        row(VERBS, "fetch-add-8", "fetch-and-add, round trip, polling")
                .rawAtMost(RAW_ROUND_TRIP, 1.3)
                .latency(pair("rdma-latency", "operation", "fetch-and-add", "size", 8));
        row(VERBS, "send-block-64", "64 B SEND, one way, blocking")
                .rawAtMost(RAW_BLOCKING, 1.3)
                .latency(pair("rdma-latency", "operation", "send", "size", 64, "wait", "block"));
    }

    private void verbsThroughput() {
        for (String operation : List.of("write", "send", "read")) {
            for (int size : new int[] {64 << 10, 1 << 20}) {
                String text = size == 1 << 20 ? "1 MiB" : "64 KiB";
                RowBuilder row = row(
                        VERBS,
                        operation + "-" + text.replace(" ", "").toLowerCase(java.util.Locale.ROOT),
                        text + " " + operation.toUpperCase(java.util.Locale.ROOT) + ", throughput");
                if (!operation.equals("read")) {
                    row.rawAtLeast(RAW_STREAM, 0.8);
                } else if (size == 1 << 20) {
                    row.rawAtLeast(RAW_STREAM, 0.7);
                } else {
                    row.raw(RAW_STREAM);
                }
                row.throughput(pair("rdma-throughput", "operation", operation, "size", size, "depth", 16));
            }
        }
        row(VERBS, "write-rate", "64 B WRITE, rate, batches of 64")
                .raw("raw-rate")
                .atLeast(8)
                .rate(pair("rdma-throughput", "operation", "write", "size", 64, "depth", 512, "batch", 64));
    }

    private void sockets() {
        row(SOCKETS, "socket-64", "64 B, one way, polling")
                .rawAtMost(RAW_LATENCY, 1.4)
                .latency(pair("channel-latency", "kind", "rdma", "size", 64));
        row(SOCKETS, "socket-64kib", "64 KiB writes, stream")
                .rawAtLeast(RAW_STREAM, 0.7)
                .throughput(pair("channel-stream", "kind", "rdma", "size", 64 << 10));
    }

    private void javaPeers() {
        row(JAVA_PEERS, "tcp-64", "NIO TCP, 64 B, one way, polling")
                .raw(RAW_LATENCY)
                .latency(pair("channel-latency", "kind", "tcp", "size", 64));
        row(JAVA_PEERS, "tcp-block-64", "NIO TCP, 64 B, one way, blocking")
                .raw(RAW_BLOCKING)
                .latency(pair("channel-latency", "kind", "tcp", "size", 64, "wait", "block"));
        row(JAVA_PEERS, "tcp-64kib", "NIO TCP, 64 KiB writes")
                .raw(RAW_STREAM)
                .throughput(pair("channel-stream", "kind", "tcp", "size", 64 << 10));
        row(JAVA_PEERS, "tcp-1mib", "NIO TCP, 1 MiB writes")
                .raw(RAW_STREAM)
                .throughput(pair("channel-stream", "kind", "tcp", "size", 1 << 20));
    }
}
