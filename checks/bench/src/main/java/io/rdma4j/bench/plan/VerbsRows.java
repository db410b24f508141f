package io.rdma4j.bench.plan;

import static io.rdma4j.bench.plan.Experiments.KIB_64;
import static io.rdma4j.bench.plan.Experiments.MIB;
import static io.rdma4j.bench.plan.Experiments.pair;
import static io.rdma4j.bench.plan.Experiments.sizeName;
import static io.rdma4j.bench.plan.Experiments.sizeText;

import io.rdma4j.bench.report.Unit;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.Parameters;
import java.util.List;
import java.util.Locale;

/** The rows for the verbs and RDMA sockets. */
final class VerbsRows {
    private static final int[] SIZES = {1, 64, 512, 4096, 32 << 10, 256 << 10, MIB, 8 << 20};
    private static final int[] QUEUE_PAIRS = {1, 2, 4, 8, 16, 32, 64};

    /** The peers whose latency a message of 64 bytes should undercut. */
    private static final String[] SLOWER = {"aeron-64", "ucx-perftest-tag-64", "rstream-tcp-64"};

    private final Plan plan;

    private VerbsRows(Plan plan) {
        this.plan = plan;
    }

    static void addTo(Plan plan) {
        VerbsRows rows = new VerbsRows(plan);
        rows.latencies();
        rows.throughputs();
        rows.rates();
        rows.sockets();
        rows.sizes();
        rows.queuePairs();
        rows.engines();
    }

    private RowBuilder row(String id, String title) {
        return new RowBuilder(plan, id, Experiments.VERBS, title);
    }

    private static Experiment latency(String operation, int size, Object... more) {
        PairExperiment pair = (PairExperiment) pair("rdma-latency", "operation", operation, "size", size);
        return more.length == 0
                ? pair
                : new PairExperiment(
                        pair.test(), pair.options(), pair.parameters().with(more[0].toString(), more[1]));
    }

    private static Experiment throughput(String operation, int size, int depth) {
        return pair("rdma-throughput", "operation", operation, "size", size, "depth", depth);
    }

    private void latencies() {
        row("write-64", "64 B WRITE, one way, peer polls memory")
                .rawAtMost(Experiments.RAW_LATENCY, 1.25)
                .lessThan(SLOWER)
                .latency(latency("write", 64));
        row("send-64", "64 B SEND, one way, polling")
                .rawAtMost(Experiments.RAW_LATENCY, 1.25)
                .lessThan(SLOWER)
                .latency(latency("send", 64));
        row("read-64", "64 B READ, round trip, polling")
                .rawAtMost(Experiments.RAW_ROUND_TRIP, 1.3)
                .latency(latency("read", 64));
        row("cas-8", "compare-and-swap, round trip, polling")
                .from(1)
                .rawAtMost(Experiments.RAW_ROUND_TRIP, 1.3)
                .latency(latency("compare-and-swap", 8));
        row("fetch-add-8", "fetch-and-add, round trip, polling")
                .rawAtMost(Experiments.RAW_ROUND_TRIP, 1.3)
                .latency(latency("fetch-and-add", 8));
        row("send-block-64", "64 B SEND, one way, completion channels")
                .rawAtMost(Experiments.RAW_BLOCKING, 1.3)
                .latency(latency("send", 64, "wait", "block"));
        row("write-block-64", "64 B WRITE, until its completion, completion channel")
                .from(1)
                .latency(latency("acknowledged-write", 64, "wait", "block"));
        row("read-block-64", "64 B READ, round trip, completion channel")
                .from(1)
                .latency(latency("read", 64, "wait", "block"));
    }

    private void throughputs() {
        for (String operation : List.of("write", "send", "read")) {
            for (int size : new int[] {KIB_64, MIB}) {
                RowBuilder row = row(
                        operation + "-" + sizeName(size),
                        sizeText(size) + " " + operation.toUpperCase(Locale.ROOT) + ", throughput");
                if (!operation.equals("read")) {
                    row.rawAtLeast(Experiments.RAW_STREAM, 0.8);
                } else if (size == MIB) {
                    row.rawAtLeast(Experiments.RAW_STREAM, 0.7);
                } else {
                    row.raw(Experiments.RAW_STREAM).from(1);
                }
                if (size == KIB_64 && !operation.equals("read")) {
                    row.timesAtLeast(2, "ucx-perftest-tag-64kib");
                }
                row.throughput(throughput(operation, size, 16));
            }
        }
        for (String operation : List.of("write", "send", "read")) {
            row(
                            operation + "-block-64kib",
                            "64 KiB " + operation.toUpperCase(Locale.ROOT) + ", throughput, completion channels")
                    .from(1)
                    .raw(Experiments.RAW_STREAM)
                    .throughput(pair(
                            "rdma-throughput", "operation", operation, "size", KIB_64, "depth", 16, "wait", "block"));
        }
        row("write-1mib-idle", "1 MiB WRITE, throughput, peer leaves its device to itself")
                .from(1)
                .raw(Experiments.RAW_STREAM)
                .throughput(pair("rdma-throughput", "operation", "write", "size", MIB, "depth", 16, "passive", "idle"));
    }

    private void rates() {
        row("write-rate", "64 B WRITE, rate, batches of 64")
                .raw(Experiments.RAW_RATE)
                .atLeast(8)
                .rate(pair("rdma-throughput", "operation", "write", "size", 64, "depth", 512, "batch", 64));
        row("send-rate", "64 B SEND, rate, batches of 64")
                .from(1)
                .raw(Experiments.RAW_RATE)
                .rate(pair("rdma-throughput", "operation", "send", "size", 64, "depth", 512, "batch", 64));
        for (String operation : List.of("write", "send")) {
            row(
                            operation + "-block-rate",
                            "64 B " + operation.toUpperCase(Locale.ROOT) + ", rate, batches of 64, completion channels")
                    .from(1)
                    .raw(Experiments.RAW_RATE)
                    .rate(pair(
                            "rdma-throughput",
                            "operation",
                            operation,
                            "size",
                            64,
                            "depth",
                            512,
                            "batch",
                            64,
                            "wait",
                            "block"));
        }
        row("datagram-rate", "64 B UD SEND, rate received, batches of 64")
                .raw(Experiments.RAW_RATE)
                .atLeast(6)
                .rate(pair("rdma-datagrams", "size", 64, "batch", 64));
    }

    private void sockets() {
        new RowBuilder(plan, "socket-64", Experiments.SOCKETS, "64 B, one way, polling")
                .rawAtMost(Experiments.RAW_LATENCY, 1.4)
                .latency(pair("channel-latency", "kind", "rdma", "size", 64));
        new RowBuilder(plan, "socket-block-64", Experiments.SOCKETS, "64 B, one way, blocking")
                .from(1)
                .raw(Experiments.RAW_BLOCKING)
                .latency(pair("channel-latency", "kind", "rdma", "size", 64, "wait", "block"));
        new RowBuilder(plan, "socket-64kib", Experiments.SOCKETS, "64 KiB writes, stream")
                .rawAtLeast(Experiments.RAW_STREAM, 0.7)
                .throughput(pair("channel-stream", "kind", "rdma", "size", KIB_64));
        opening("socket-open", "a connection: set-up, blocking", "rdma")
                .timesAtMost(5, "tcp-open")
                .latency(opening("rdma"));
        opening("socket-connections", "connections one after the other, a byte there and back on each", "rdma")
                .timesAtLeast(0.2, "tcp-connections")
                .figure(Figures.CONNECTIONS_PER_SECOND, Unit.PER_SECOND, opening("rdma"));
        opening("tcp-open", "NIO TCP, a connection: set-up, blocking", "tcp").latency(opening("tcp"));
        opening("tcp-connections", "NIO TCP, the same", "tcp")
                .figure(Figures.CONNECTIONS_PER_SECOND, Unit.PER_SECOND, opening("tcp"));
    }

    private RowBuilder opening(String id, String title, String kind) {
        String group = kind.equals("rdma") ? Experiments.SOCKETS : Experiments.JAVA_PEERS;
        return new RowBuilder(plan, id, group, title).from(1);
    }

    /** While one end works, the other one waits in the kernel, so a compiler thread has a separate processor. */
    private static Experiment opening(String kind) {
        return new PairExperiment(
                "channel-opening",
                List.of("-XX:+BackgroundCompilation", Experiments.NO_SHARED_MEMORY),
                Parameters.of("kind", kind));
    }

    private void sizes() {
        for (int size : SIZES) {
            for (String operation : List.of("write", "send", "read")) {
                new RowBuilder(
                                plan,
                                operation + "-latency-" + sizeName(size),
                                Experiments.SIZES,
                                sizeText(size) + " " + operation.toUpperCase(Locale.ROOT)
                                        + (operation.equals("read") ? ", round trip" : ", one way"))
                        .from(2)
                        .latency(latency(operation, size));
                new RowBuilder(
                                plan,
                                operation + "-throughput-" + sizeName(size),
                                Experiments.SIZES,
                                sizeText(size) + " " + operation.toUpperCase(Locale.ROOT) + ", throughput")
                        .from(2)
                        .throughput(throughput(operation, size, size > MIB ? 4 : 16));
            }
        }
    }

    /** Adds rows for two threads of one process. With an engine each, they share no engine lock. */
    private void engines() {
        for (int passive : new int[] {0, 1}) {
            String each = passive == 0 ? "the same engine" : "an engine each";
            engineRow("send-64", passive, "64 B SEND, one way, polling, " + each)
                    .raw(Experiments.RAW_LATENCY)
                    .latency(pair(
                            "rdma-latency-in-one-process", "operation", "send", "size", 64, "passiveVector", passive));
            engineRow("write-64kib", passive, "64 KiB WRITE, throughput, " + each)
                    .raw(Experiments.RAW_STREAM)
                    .throughput(inOneProcess("write", KIB_64, 16, 1, passive));
            engineRow("write-rate", passive, "64 B WRITE, rate, batches of 64, " + each)
                    .raw(Experiments.RAW_RATE)
                    .rate(inOneProcess("write", 64, 512, 64, passive));
        }
    }

    private RowBuilder engineRow(String id, int passive, String title) {
        return new RowBuilder(plan, id + (passive == 0 ? "-one-engine" : "-two-engines"), Experiments.ENGINES, title)
                .from(1);
    }

    private static Experiment inOneProcess(String operation, int size, int depth, int batch, int passive) {
        return pair(
                "rdma-throughput-in-one-process",
                "operation",
                operation,
                "size",
                size,
                "depth",
                depth,
                "batch",
                batch,
                "passiveVector",
                passive);
    }

    private void queuePairs() {
        for (int count : QUEUE_PAIRS) {
            new RowBuilder(
                            plan,
                            "write-qp-" + count,
                            Experiments.SIZES,
                            "64 KiB WRITE over " + count + (count == 1 ? " queue pair" : " queue pairs"))
                    .from(count == 1 || count == 16 ? 1 : 2)
                    .raw(Experiments.RAW_STREAM)
                    .throughput(pair(
                            "rdma-throughput", "operation", "write", "size", KIB_64, "depth", 4, "queuePairs", count));
        }
    }
}
