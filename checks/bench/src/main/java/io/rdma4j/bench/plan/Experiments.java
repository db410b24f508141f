package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.Parameters;
import java.util.List;
import java.util.Locale;

/** All experiments and rows, in the order of the table. */
public final class Experiments {
    static final String FLOOR = "the floor: UDP by system calls from Java";
    static final String FIRST_SECONDS = "the first seconds of two processes, from their start";
    static final String TOOLS = "tools with their default options, from their start";
    static final String VERBS = "this project: verbs";
    static final String LAYER = "this project: connections, batches and messages of the package io.rdma4j";
    static final String SIZES = "this project: sizes and queue pairs";
    static final String ENGINES = "this project: two threads of one process, with separate engines or the same engine";
    static final String CONNECTIONS = "this project: connections";
    static final String MEMORY = "one host: shared memory";
    static final String LOSS = "this project: goodput at loss, 64 KiB writes";
    static final String SOCKETS = "this project: RDMA sockets";
    static final String PROCESSORS = "processor time of both processes";
    static final String ALLOCATION = "heap memory that both processes allocate for one message";
    static final String JAVA_PEERS = "peers in Java";
    static final String C_PEERS = "peers in C";

    static final String RAW_LATENCY = "raw-crc-64";
    static final String RAW_ROUND_TRIP = "raw-round-trip-64";
    static final String RAW_BLOCKING = "raw-block-64";
    static final String RAW_STREAM = "raw-stream-crc";
    static final String RAW_RATE = "raw-rate";

    static final int KIB_64 = 64 << 10;
    static final int MIB = 1 << 20;

    /** The option with which this project uses UDP even for packets on one host. */
    static final String NO_SHARED_MEMORY = "-Drdma4j.shared-memory=off";

    private static final List<String> UDP_ONLY = List.of(NO_SHARED_MEMORY);

    private Experiments() {}

    /** Returns the plan for a pace. */
    public static Plan plan(Pace pace) {
        Plan plan = new Plan(pace.level());
        FloorRows.addTo(plan);
        VerbsRows.addTo(plan);
        LayerRows.addTo(plan);
        MemoryRows.addTo(plan);
        FirstRows.addTo(plan);
        ConnectionRows.addTo(plan);
        PeerRows.addTo(plan);
        ToolRows.addTo(plan);
        LayerRows.addAllocationTo(plan);
        plan.dropMissingReferences();
        return plan;
    }

    /** Returns an experiment over UDP. */
    static Experiment pair(String test, Object... parameters) {
        Parameters all = Parameters.of(parameters);
        boolean isProject = test.startsWith("rdma-") || all.text("kind", "").equals("rdma");
        return new PairExperiment(test, isProject ? UDP_ONLY : List.of(), all);
    }

    /** Returns a size for titles: {@code 64 B}, {@code 4 KiB}, {@code 1 MiB}. */
    static String sizeText(int bytes) {
        if (bytes >= MIB && bytes % MIB == 0) {
            return bytes / MIB + " MiB";
        }
        return bytes >= 1024 && bytes % 1024 == 0 ? bytes / 1024 + " KiB" : bytes + " B";
    }

    /** Returns a size for names: {@code 64}, {@code 4kib}, {@code 1mib}. */
    static String sizeName(int bytes) {
        return sizeText(bytes).replace(" B", "").replace(" ", "").toLowerCase(Locale.ROOT);
    }
}
