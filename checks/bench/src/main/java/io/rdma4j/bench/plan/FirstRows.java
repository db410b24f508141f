package io.rdma4j.bench.plan;

import static io.rdma4j.bench.plan.Experiments.KIB_64;

import io.rdma4j.bench.report.Unit;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.Parameters;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The rows for the first impression: the first seconds of two processes, and the tools with default options. */
final class FirstRows {
    private static final int[] SECONDS = {1, 2, 3, 5, 10};
    private static final int LAST_SECOND = 10;

    private static final Map<Integer, Double> LEAST_SHARE_OF_WARM = Map.of(1, 0.2, 2, 0.5, 3, 0.8, 5, 0.95);

    private static final String COLD = " --no-warm-up";

    private final Plan plan;

    private FirstRows(Plan plan) {
        this.plan = plan;
    }

    static void addTo(Plan plan) {
        FirstRows rows = new FirstRows(plan);
        for (JavaCommand java : List.of(JavaCommand.PLAIN, JavaCommand.LAUNCHER)) {
            rows.latency("write-64", "64 B WRITE", java, "rdma-latency", "operation", "write", "size", 64);
            rows.throughput(
                    "write-64kib",
                    "64 KiB WRITE",
                    java,
                    "rdma-throughput",
                    "operation",
                    "write",
                    "size",
                    KIB_64,
                    "depth",
                    16);
            rows.throughput(
                    "socket-64kib",
                    "RDMA socket, 64 KiB writes",
                    java,
                    "channel-stream",
                    "kind",
                    "rdma",
                    "size",
                    KIB_64);
        }
        rows.latency("tcp-64", "NIO TCP, 64 B", JavaCommand.PLAIN, "channel-latency", "kind", "tcp", "size", 64);
        rows.throughput(
                "tcp-64kib",
                "NIO TCP, 64 KiB writes",
                JavaCommand.PLAIN,
                "channel-stream",
                "kind",
                "tcp",
                "size",
                KIB_64);
        rows.tools();
    }

    private static Experiment experiment(JavaCommand java, String test, Object... parameters) {
        return new PairExperiment(
                test, java, List.of(), Parameters.of(parameters).with("firstSeconds", LAST_SECOND));
    }

    private RowBuilder row(String name, String title, JavaCommand java, int second) {
        String options = java == JavaCommand.PLAIN ? "" : "-" + java.toString().toLowerCase(Locale.ROOT);
        return new RowBuilder(
                        plan,
                        "first-" + name + options + "-" + second,
                        Experiments.FIRST_SECONDS,
                        title + (java == JavaCommand.PLAIN ? "" : ", options of the launcher") + ", second " + second)
                .from(1);
    }

    private void latency(String name, String title, JavaCommand java, String test, Object... parameters) {
        for (int second : SECONDS) {
            row(name, title + ", one way, polling, mean", java, second)
                    .figure(
                            Figures.ofSecond(second, Figures.MEAN_MICROS),
                            Unit.MICROSECONDS,
                            experiment(java, test, parameters));
        }
    }

    private void throughput(String name, String title, JavaCommand java, String test, Object... parameters) {
        for (int second : SECONDS) {
            RowBuilder row = row(name, title, java, second);
            Double share = LEAST_SHARE_OF_WARM.get(second);
            if (share != null && name.equals("write-64kib") && java == JavaCommand.PLAIN) {
                row.timesAtLeast(share, name);
            }
            row.figure(
                    Figures.ofSecond(second, Figures.GIGABYTES_PER_SECOND),
                    Unit.GIGABYTES_PER_SECOND,
                    experiment(java, test, parameters));
        }
    }

    // ---- tools

    private void tools() {
        for (String operation : List.of("write", "send")) {
            tool(operation + "-lat", "ib_" + operation + "_lat -R, average")
                    .timesAtMost(1.5, operation + "-64")
                    .figure(Figures.MEAN_MICROS, Unit.MICROSECONDS, perftest(operation + "_lat", ""));
            tool(operation + "-lat-cold", "ib_" + operation + "_lat -R --no-warm-up, average")
                    .figure(Figures.MEAN_MICROS, Unit.MICROSECONDS, perftest(operation + "_lat", COLD));
        }
        for (String operation : List.of("write", "send", "read")) {
            tool(operation + "-bw", "ib_" + operation + "_bw -R, average")
                    .timesAtLeast(0.8, operation + "-64kib")
                    .throughput(perftest(operation + "_bw", ""));
            tool(operation + "-bw-cold", "ib_" + operation + "_bw -R --no-warm-up, average")
                    .throughput(perftest(operation + "_bw", COLD));
        }
        rstream("rstream", "rstream", "");
        rstream("rstream-cold", "rstream --no-warm-up", COLD);
        rstream("rstream-tcp", "rstream -T s (TCP, this project's)", " -T s");
        tool("compilers", "ib_write_bw -R -n 20000 --no-warm-up: processor time of the compilers of the client")
                .atMost(1.2)
                .figure(
                        ToolOutput.COMPILER_SECONDS,
                        Unit.SECONDS,
                        ToolCommands.pair(
                                "ib_write_bw -R -n 20000 -p {port}" + COLD,
                                Map.of("RDMA4J_JAVA_OPTS", "-XX:+CITime"),
                                ToolOutput::compilerTime));
    }

    private void rstream(String name, String title, String options) {
        Experiment experiment = ToolCommands.pair("rstream -p {port}" + options, Map.of(), ToolOutput::rstreamTable);
        RowBuilder latency = tool(name + "-64", title + ", 64_lat");
        RowBuilder bandwidth = tool(name + "-64kib", title + ", 64k_bw");
        if (options.isEmpty()) {
            latency.timesAtMost(2, "tool-rstream-tcp-64");
            bandwidth.timesAtLeast(0.5, "tool-rstream-tcp-64kib");
        }
        latency.figure(ToolOutput.RSTREAM_64_LATENCY, Unit.MICROSECONDS, experiment);
        bandwidth.figure(ToolOutput.RSTREAM_64K_BANDWIDTH, Unit.GIGABYTES_PER_SECOND, experiment);
    }

    private static Experiment perftest(String tool, String options) {
        return ToolCommands.pair("ib_" + tool + " -R -p {port}" + options, Map.of(), ToolOutput::perftest);
    }

    private RowBuilder tool(String name, String title) {
        return new RowBuilder(plan, "tool-" + name, Experiments.TOOLS, title).from(1);
    }
}
