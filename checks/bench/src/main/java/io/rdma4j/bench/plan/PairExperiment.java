package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.MissingPeerException;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.WorkerReport.Kind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * An experiment in two Java processes, which run a {@link io.rdma4j.bench.worker.PairTest}.
 *
 * @param test name of the test
 * @param java the kind of command line of both processes
 * @param options further options of both Java virtual machines
 * @param parameters parameters of both processes
 */
record PairExperiment(String test, JavaCommand java, List<String> options, Parameters parameters)
        implements Experiment {
    private static final Duration END_LIMIT = Duration.ofSeconds(2);

    /** True if the processes' error output is shown: a system property of the coordinator. */
    private static final boolean VERBOSE = Boolean.getBoolean("bench.verbose");

    /** Creates an experiment with the options for warm figures. */
    PairExperiment(String test, List<String> options, Parameters parameters) {
        this(test, JavaCommand.MEASURING, options, parameters);
    }

    @Override
    public String id() {
        List<String> words = words("", parameters);
        words.addAll(options);
        if (java != JavaCommand.MEASURING) {
            words.add(java.toString());
        }
        return String.join(" ", words);
    }

    private List<String> words(String role, Parameters all) {
        List<String> words = new ArrayList<>();
        if (!role.isEmpty()) {
            words.add(role);
        }
        words.add(test);
        words.addAll(all.words());
        return words;
    }

    @Override
    public Map<String, Double> run(Pace pace) throws MissingPeerException, IOException, InterruptedException {
        Parameters paced = parameters;
        if (parameters.text("longestWarmUpMillis", "").isEmpty()) {
            paced = paced.with("longestWarmUpMillis", pace.longestWarmUpMillis());
        }
        if (parameters.text("measureMillis", "").isEmpty()) {
            paced = paced.with("measureMillis", pace.measureMillis());
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(pace.limitSeconds());
        try (WorkerProcess server = new WorkerProcess(java.worker(options, words("serve", paced)), VERBOSE);
                WorkerProcess client = new WorkerProcess(java.worker(options, words("drive", paced)), VERBOSE)) {
            client.sendLine(server.await(Kind.PORT, deadline));
            String figures;
            try {
                figures = client.await(Kind.FIGURES, deadline);
            } catch (IOException e) {
                throw withServerError(server, e);
            }
            server.awaitEnd(END_LIMIT);
            return Figures.parse(figures).values();
        }
    }

    /** Adds the passive side's error message to a failure of the active side. */
    private static IOException withServerError(WorkerProcess server, IOException failure)
            throws MissingPeerException, InterruptedException {
        try {
            String reason = server.await(Kind.ERROR, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(200));
            return new IOException(failure.getMessage() + "; " + reason, failure);
        } catch (IOException none) {
            return failure;
        }
    }
}
