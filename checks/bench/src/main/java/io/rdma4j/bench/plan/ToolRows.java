package io.rdma4j.bench.plan;

import static io.rdma4j.bench.plan.Experiments.KIB_64;
import static io.rdma4j.bench.plan.Experiments.MIB;
import static io.rdma4j.bench.plan.Experiments.pair;

import io.rdma4j.bench.report.Unit;
import io.rdma4j.bench.worker.Figures;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** The rows for tools in C, for processor time and for heap allocation. */
final class ToolRows {
    private final Plan plan;

    private ToolRows(Plan plan) {
        this.plan = plan;
    }

    static void addTo(Plan plan) {
        ToolRows rows = new ToolRows(plan);
        rows.rstream();
        rows.ucxPerftest();
        rows.qperf();
        rows.fiPingpong();
        rows.processors();
        rows.allocation();
    }

    private RowBuilder row(String id, String title) {
        return new RowBuilder(plan, id, Experiments.C_PEERS, title);
    }

    private static List<String> words(String line) {
        return List.of(line.split(" "));
    }

    private static Experiment tool(
            String server,
            String client,
            Map<String, String> environment,
            Function<String, Map<String, Double>> reader) {
        return new CommandPair(client, words(server), words(client), environment, CommandPair.UNTIL_IT_LISTENS, reader);
    }

    private static Experiment rstream(String options) {
        return tool(
                "rstream -p {port} " + options,
                "rstream -s {server} -p {port} " + options,
                Map.of(),
                ToolOutput::rstream);
    }

    private void rstream() {
        row("rstream-tcp-64", "rstream -T s (TCP), 64 B, one way")
                .raw(Experiments.RAW_LATENCY)
                .latency(rstream("-T s -S 64 -C 1 -I 100000"));
        row("rstream-tcp-64kib", "rstream -T s (TCP), 64 KiB")
                .from(1)
                .raw(Experiments.RAW_STREAM)
                .throughput(rstream("-T s -S 65536 -C 1000 -I 30"));
    }

    private static Experiment ucx(String test, int size, int count) {
        return ucx(test, size, count, Map.of("UCX_TLS", "tcp", "UCX_NET_DEVICES", "lo"));
    }

    /** Returns an experiment with UCX through shared memory. */
    static Experiment ucxSharedMemory(String test, int size, int count) {
        return ucx(test, size, count, Map.of("UCX_TLS", "posix,cma,self"));
    }

    private static Experiment ucx(String test, int size, int count, Map<String, String> environment) {
        return tool(
                "ucx_perftest -p {port}",
                "ucx_perftest {server} -p {port} -t " + test + " -s " + size + " -n " + count + " -w " + count / 10
                        + " -f -v",
                environment,
                ToolOutput::ucxPerftest);
    }

    private void ucxPerftest() {
        row("ucx-perftest-tag-64", "ucx_perftest over TCP, 64 B tagged message, one way")
                .raw(Experiments.RAW_LATENCY)
                .latency(ucx("tag_lat", 64, 100_000));
        row("ucx-perftest-put-64", "ucx_perftest over TCP, 64 B put, one way")
                .from(1)
                .raw(Experiments.RAW_LATENCY)
                .latency(ucx("ucp_put_lat", 64, 50_000));
        row("ucx-perftest-tag-64kib", "ucx_perftest over TCP, 64 KiB tagged messages")
                .raw(Experiments.RAW_STREAM)
                .throughput(ucx("tag_bw", KIB_64, 30_000));
        row("ucx-perftest-tag-1mib", "ucx_perftest over TCP, 1 MiB tagged messages")
                .from(1)
                .raw(Experiments.RAW_STREAM)
                .throughput(ucx("tag_bw", MIB, 4000));
        row("ucx-perftest-rate", "ucx_perftest over TCP, 64 B puts, rate")
                .from(2)
                .raw(Experiments.RAW_RATE)
                .rate(ucx("ucp_put_bw", 64, 300_000));
    }

    private static Experiment qperf(String options, Function<String, Map<String, Double>> reader) {
        return tool("qperf -lp {port}", "qperf -lp {port} {server} -t 1 -uu " + options, Map.of(), reader);
    }

    private void qperf() {
        row("qperf-tcp-64", "qperf tcp_lat, 64 B, one way, blocking")
                .from(1)
                .raw(Experiments.RAW_BLOCKING)
                .latency(qperf("-m 64 tcp_lat", ToolOutput::qperfLatency));
        row("qperf-tcp-64kib", "qperf tcp_bw, 64 KiB")
                .from(2)
                .raw(Experiments.RAW_STREAM)
                .throughput(qperf("-m 65536 tcp_bw", ToolOutput::qperfBandwidth));
    }

    private static Experiment fiPingpong(String provider) {
        String options = "-p " + provider + " -e rdm -I 50000 -S 64";
        return tool(
                "fi_pingpong " + options + " -B {port}",
                "fi_pingpong " + options + " -P {port} {server}",
                Map.of(),
                ToolOutput::fiPingpong);
    }

    private void fiPingpong() {
        row("fi-tcp-64", "fi_pingpong over TCP (ofi_rxm), 64 B, one way")
                .from(1)
                .raw(Experiments.RAW_LATENCY)
                .latency(fiPingpong("tcp;ofi_rxm"));
        row("fi-udp-64", "fi_pingpong over UDP (ofi_rxd), 64 B, one way")
                .from(2)
                .raw(Experiments.RAW_LATENCY)
                .latency(fiPingpong("udp;ofi_rxd"));
    }

    /** Adds rows for the processor time of experiments of other rows. */
    private void processors() {
        processorTime("raw", "the floor, 4096 B packets with copy and CRC", FloorRows.stream());
        for (String operation : List.of("write", "send", "read")) {
            processorTime(
                    operation,
                    "1 MiB " + operation.toUpperCase(Locale.ROOT),
                    pair("rdma-throughput", "operation", operation, "size", MIB, "depth", 16));
        }
        processorTime("tcp", "NIO TCP, 1 MiB writes", pair("channel-stream", "kind", "tcp", "size", MIB));
    }

    private void processorTime(String name, String title, Experiment experiment) {
        RowBuilder row = new RowBuilder(plan, "cpu-" + name, Experiments.PROCESSORS, title).from(1);
        if (!name.equals("raw")) {
            row.raw("cpu-raw");
        }
        row.figure(Figures.CPU_SECONDS_PER_GIGABYTE, Unit.SECONDS_PER_GIGABYTE, experiment);
    }

    /** Adds rows for the heap allocation of experiments of other rows; the packet path allocates no memory. */
    private void allocation() {
        for (String operation : List.of("write", "send")) {
            String name = operation.toUpperCase(Locale.ROOT);
            allocated(
                    operation + "-rate",
                    "64 B " + name + ", batches of 64",
                    pair("rdma-throughput", "operation", operation, "size", 64, "depth", 512, "batch", 64));
        }
        for (String operation : List.of("write", "send", "read")) {
            allocated(
                    operation + "-1mib",
                    "1 MiB " + operation.toUpperCase(Locale.ROOT),
                    pair("rdma-throughput", "operation", operation, "size", MIB, "depth", 16));
        }
        allocated("socket-64kib", "RDMA socket, 64 KiB", pair("channel-stream", "kind", "rdma", "size", KIB_64));
        allocated("tcp-64kib", "NIO TCP, 64 KiB", pair("channel-stream", "kind", "tcp", "size", KIB_64));
    }

    private void allocated(String name, String title, Experiment experiment) {
        new RowBuilder(plan, "alloc-" + name, Experiments.ALLOCATION, title)
                .from(1)
                .figure(Figures.ALLOCATED_BYTES_PER_MESSAGE, Unit.BYTES, experiment);
    }
}
