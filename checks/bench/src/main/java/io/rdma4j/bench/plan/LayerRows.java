package io.rdma4j.bench.plan;

import static io.rdma4j.bench.plan.Experiments.KIB_64;
import static io.rdma4j.bench.plan.Experiments.pair;

import io.rdma4j.bench.report.Unit;
import io.rdma4j.bench.worker.Figures;
import java.util.List;
import java.util.Locale;

/**
 * The rows for the package {@link io.rdma4j}.
 *
 * <p>Its calls poll once and then block. Therefore the aims compare them with rows of verbs that wait for completion
 * channels.
 */
final class LayerRows {
    private static final double LATENCY_RATIO = 1.02;
    private static final double THROUGHPUT_RATIO = 0.98;
    private static final List<String> OPERATIONS = List.of("write", "send", "read");

    private final Plan plan;

    private LayerRows(Plan plan) {
        this.plan = plan;
    }

    static void addTo(Plan plan) {
        LayerRows rows = new LayerRows(plan);
        rows.latencies();
        rows.throughputs();
        rows.rates();
    }

    /** Adds the rows of heap allocation, which follow those of other packages. */
    static void addAllocationTo(Plan plan) {
        new LayerRows(plan).allocation();
    }

    private RowBuilder row(String id, String title) {
        return new RowBuilder(plan, id, Experiments.LAYER, title).from(1);
    }

    private void latencies() {
        for (String operation : OPERATIONS) {
            String what = switch (operation) {
                case "write" -> "64 B Connection.write, until it returns, blocking";
                case "send" -> "64 B SEND by Batch, one way, blocking";
                default -> "64 B Connection.read, until it returns, blocking";
            };
            row("layer-" + operation + "-64", what)
                    .timesAtMost(LATENCY_RATIO, operation + "-block-64")
                    .latency(pair("rdma-layer-latency", "operation", operation, "size", 64));
        }
    }

    private void throughputs() {
        for (String operation : OPERATIONS) {
            row(
                            "layer-" + operation + "-64kib",
                            "64 KiB " + operation.toUpperCase(Locale.ROOT) + " by Batch, throughput, blocking")
                    .raw(Experiments.RAW_STREAM)
                    .timesAtLeast(THROUGHPUT_RATIO, operation + "-block-64kib")
                    .throughput(pair("rdma-layer-throughput", "operation", operation, "size", KIB_64, "depth", 16));
        }
    }

    /** Returns an experiment with batches of 64 operations of 64 bytes. */
    private static Experiment batches(String operation) {
        return pair("rdma-layer-throughput", "operation", operation, "size", 64, "depth", 512, "batch", 64);
    }

    /** Returns an experiment with calls for 64 bytes, each of which waits for its operation. */
    private static Experiment calls(String operation) {
        return pair("rdma-layer-throughput", "operation", operation, "size", 64, "depth", 16, "batch", 0);
    }

    private void rates() {
        for (String operation : List.of("write", "send")) {
            row(
                            "layer-" + operation + "-rate",
                            "64 B " + operation.toUpperCase(Locale.ROOT) + " by Batch, rate, batches of 64, blocking")
                    .raw(Experiments.RAW_RATE)
                    .timesAtLeast(THROUGHPUT_RATIO, operation + "-block-rate")
                    .rate(batches(operation));
        }
    }

    private void allocation() {
        allocated("write-rate", "64 B WRITE, batches of 64", batches("write"));
        allocated("send-rate", "64 B SEND, batches of 64, and received messages", batches("send"));
        allocated("write", "64 B Connection.write", calls("write"));
        allocated("send", "64 B Connection.send, and received messages", calls("send"));
    }

    private void allocated(String name, String title, Experiment experiment) {
        new RowBuilder(plan, "alloc-layer-" + name, Experiments.ALLOCATION, "package io.rdma4j: " + title)
                .from(1)
                .figure(Figures.ALLOCATED_BYTES_PER_MESSAGE, Unit.BYTES, experiment);
    }
}
