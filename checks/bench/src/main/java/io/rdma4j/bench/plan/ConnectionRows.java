package io.rdma4j.bench.plan;

import static io.rdma4j.bench.plan.Experiments.KIB_64;
import static io.rdma4j.bench.plan.Experiments.pair;

import io.rdma4j.bench.report.Unit;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.Parameters;
import java.util.List;
import java.util.Map;

/** The rows for connections: set-up, idle connections and packet loss; and one for a whole process. */
final class ConnectionRows {
    private static final int IDLE = 10_000;

    private final Plan plan;

    private ConnectionRows(Plan plan) {
        this.plan = plan;
    }

    static void addTo(Plan plan) {
        ConnectionRows rows = new ConnectionRows(plan);
        rows.setUp();
        rows.idle();
        rows.process();
        rows.loss();
    }

    private RowBuilder row(String id, String title) {
        return new RowBuilder(plan, id, Experiments.CONNECTIONS, title);
    }

    private void setUp() {
        // While one end works, the other one waits in the kernel, so a compiler thread has a separate processor. If the
        // ends waited for the compiler, as they do where both poll, a single compilation would dominate the figure.
        row("connect", "set-up, one after the other")
                .atMost(300)
                .latency(new PairExperiment(
                        "rdma-set-up",
                        List.of("-XX:+BackgroundCompilation", Experiments.NO_SHARED_MEMORY),
                        Parameters.of("atOnce", 1)));
        row("connect-1000", "set-up, 1000 at once")
                .from(1)
                .atLeast(5000)
                .figure(Figures.CONNECTIONS_PER_SECOND, Unit.PER_SECOND, pair("rdma-set-up", "atOnce", 1000));
    }

    private void idle() {
        Experiment idle = new OnceExperiment(new PairExperiment(
                "rdma-idle",
                // The whole heap is resident from the start, so that it is not treated as memory of the connections.
                List.of("-Xms768m", "-Xmx768m", "-XX:+AlwaysPreTouch", Experiments.NO_SHARED_MEMORY),
                Parameters.of("connections", IDLE)));
        row("idle-memory", IDLE + " idle connections, memory of one, each side")
                .from(1)
                .atMost(8 * 1024)
                .figure(Figures.BYTES_PER_CONNECTION, Unit.BYTES, idle);
        row("idle-threads", IDLE + " idle connections, threads that they add")
                .from(1)
                .atMost(16)
                .figure(Figures.THREADS, Unit.COUNT, idle);
        row("idle-cpu", IDLE + " idle connections, processors used by both sides")
                .from(1)
                .atMost(0.01)
                .figure(Figures.CPU_SHARE, Unit.PROCESSORS, idle);
    }

    private void process() {
        String launcher = ToolCommands.launcher();
        row("rping", "rping -c -C 1, the whole process")
                .from(1)
                .atMost(0.3)
                .figure(
                        Figures.SECONDS,
                        Unit.SECONDS,
                        ToolCommands.prepared(new CommandPair(
                                "rping",
                                List.of(launcher, "rping", "-s", "-P", "-a", "{server}"),
                                List.of(launcher, "rping", "-c", "-C", "1", "-a", "{server}"),
                                Map.of(),
                                ToolCommands.START_MILLIS,
                                _ -> Map.of())));
    }

    private void loss() {
        lossRow("0", "0 %, with the faults' wrapper")
                .raw(Experiments.RAW_STREAM)
                .throughput(lossy("0"));
        lossRow("0.1", "0.1 %").timesAtLeast(0.85, "loss-0").throughput(lossy("0.1"));
        lossRow("1", "1 %").timesAtLeast(0.5, "loss-0").throughput(lossy("1"));
        lossRow("5", "5 %").timesAtLeast(0.1, "loss-0").throughput(lossy("5"));
        lossRow("10", "10 %").timesAtLeast(0.03, "loss-0").throughput(lossy("10"));
    }

    private RowBuilder lossRow(String percent, String title) {
        return new RowBuilder(plan, "loss-" + percent, Experiments.LOSS, title).from(1);
    }

    /**
     * Both ends drop packets in both directions, each at a rate at which their combined loss is the given percentage.
     */
    private static Experiment lossy(String percent) {
        return new PairExperiment(
                "rdma-throughput",
                List.of(
                        "-Drdma4j.fault=loss=" + (1 - Math.sqrt(1 - Double.parseDouble(percent) / 100)) + ",seed=7",
                        Experiments.NO_SHARED_MEMORY),
                Parameters.of("operation", "write", "size", KIB_64, "depth", 16, "measureMillis", 1000));
    }
}
