package io.rdma4j.bench.plan;

import static io.rdma4j.bench.plan.Experiments.KIB_64;
import static io.rdma4j.bench.plan.Experiments.MIB;
import static io.rdma4j.bench.plan.Experiments.pair;
import static io.rdma4j.bench.plan.Experiments.sizeName;
import static io.rdma4j.bench.plan.Experiments.sizeText;
import static io.rdma4j.bench.plan.PeerRows.aeronIpc;
import static io.rdma4j.bench.plan.ToolRows.ucxSharedMemory;

import io.rdma4j.bench.worker.Parameters;
import java.util.List;
import java.util.Locale;

/** The rows for processes of one host, which exchange packets through shared memory. */
final class MemoryRows {
    private static final String FLOOR_LATENCY = "memory-64";
    private static final String FLOOR_STREAM = "memory-stream";
    private static final String UNIX_BLOCKING = "unix-block-64";

    private final Plan plan;

    private MemoryRows(Plan plan) {
        this.plan = plan;
    }

    static void addTo(Plan plan) {
        MemoryRows rows = new MemoryRows(plan);
        rows.floor();
        rows.latencies();
        rows.throughputs();
        rows.sockets();
        rows.peers();
    }

    private RowBuilder row(String id, String title) {
        return new RowBuilder(plan, id, Experiments.MEMORY, title);
    }

    /** Returns an experiment with the devices as they are by default: they use shared memory on one host. */
    private static Experiment shared(String test, Object... parameters) {
        return new PairExperiment(test, List.of(), Parameters.of(parameters));
    }

    private void floor() {
        row(FLOOR_LATENCY, "the floor: 64 B through memory of two Java processes, one way, polling")
                .latency(pair("memory-ping-pong", "size", 64));
        row(FLOOR_STREAM, "the floor: 64 KiB through a ring of two Java processes")
                .throughput(pair("memory-stream", "size", KIB_64));
        row(UNIX_BLOCKING, "Unix-domain socket, 64 B, one way, blocking")
                .latency(pair("channel-latency", "kind", "unix", "size", 64, "wait", "block"));
    }

    private void latencies() {
        for (String operation : List.of("write", "send")) {
            row("shm-" + operation + "-64", "64 B " + operation.toUpperCase(Locale.ROOT) + ", one way, polling")
                    .raw(FLOOR_LATENCY)
                    .atMost(1)
                    .timesAtMost(0.35, Experiments.RAW_LATENCY)
                    .latency(shared("rdma-latency", "operation", operation, "size", 64));
        }
        row("shm-read-64", "64 B READ, round trip, polling")
                .raw(FLOOR_LATENCY)
                .latency(shared("rdma-latency", "operation", "read", "size", 64));
        row("shm-send-block-64", "64 B SEND, one way, completion channels")
                .timesAtMost(1, UNIX_BLOCKING)
                .latency(shared("rdma-latency", "operation", "send", "size", 64, "wait", "block"));
    }

    private void throughputs() {
        for (String operation : List.of("write", "send", "read")) {
            for (int size : new int[] {KIB_64, MIB}) {
                RowBuilder row = row(
                                "shm-" + operation + "-" + sizeName(size),
                                sizeText(size) + " " + operation.toUpperCase(Locale.ROOT) + ", throughput")
                        .raw(FLOOR_STREAM);
                if (!operation.equals("read")) {
                    row.atLeast(8).timesAtLeast(1, "tcp-" + sizeName(size));
                }
                row.throughput(shared("rdma-throughput", "operation", operation, "size", size, "depth", 16));
            }
        }
        row("shm-write-rate", "64 B WRITE, rate, batches of 64")
                .atLeast(10)
                .rate(shared("rdma-throughput", "operation", "write", "size", 64, "depth", 512, "batch", 64));
    }

    private void sockets() {
        row("shm-socket-64", "RDMA socket, 64 B, one way, polling")
                .raw(FLOOR_LATENCY)
                .timesAtMost(0.5, "tcp-64")
                .latency(shared("channel-latency", "kind", "rdma", "size", 64));
        row("shm-socket-64kib", "RDMA socket, 64 KiB writes, stream")
                .raw(FLOOR_STREAM)
                .timesAtLeast(1, "tcp-64kib")
                .throughput(shared("channel-stream", "kind", "rdma", "size", KIB_64));
    }

    private void peers() {
        row("aeron-ipc-64", "Aeron IPC, 64 B, one way, polling")
                .raw(FLOOR_LATENCY)
                .latency(aeronIpc("latency", 64));
        row("aeron-ipc-64kib", "Aeron IPC, 64 KiB messages")
                .from(1)
                .raw(FLOOR_STREAM)
                .throughput(aeronIpc("stream", KIB_64));
        row("aeron-ipc-rate", "Aeron IPC, 64 B, rate").from(1).rate(aeronIpc("stream", 64));
        row("ucx-shm-64", "ucx_perftest through shared memory, 64 B tagged message, one way")
                .raw(FLOOR_LATENCY)
                .latency(ucxSharedMemory("tag_lat", 64, 500_000));
        row("ucx-shm-64kib", "ucx_perftest through shared memory, 64 KiB tagged messages")
                .from(1)
                .raw(FLOOR_STREAM)
                .throughput(ucxSharedMemory("tag_bw", KIB_64, 60_000));
        row("ucx-shm-rate", "ucx_perftest through shared memory, 64 B puts, rate")
                .from(1)
                .rate(ucxSharedMemory("ucp_put_bw", 64, 2_000_000));
    }
}
