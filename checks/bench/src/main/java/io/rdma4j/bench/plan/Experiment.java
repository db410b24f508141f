package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.MissingPeerException;
import java.io.IOException;
import java.util.Map;

/** A measurement that runs once in each repetition. */
public interface Experiment {
    /** Returns the name, which identifies the experiment. */
    String id();

    /**
     * Runs the experiment.
     *
     * @return figures by name
     * @throws MissingPeerException if this machine lacks a requirement; the experiment is not repeated
     * @throws IOException if the experiment failed
     * @throws InterruptedException if the thread is interrupted; all processes have been terminated
     */
    Map<String, Double> run(Pace pace) throws MissingPeerException, IOException, InterruptedException;
}
