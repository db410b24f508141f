package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.MissingPeerException;
import java.io.IOException;
import java.util.Map;

/** Something to run once in each repetition. */
public interface Experiment {
    /** Its name: the same name is the same experiment. */
    String id();

    /**
     * Runs it.
     *
     * @return figures by name
     * @throws MissingPeerException if this machine lacks what it needs; it is not tried again
     * @throws IOException if it failed
     * @throws InterruptedException if the thread is interrupted; no process is left over
     */
    Map<String, Double> run(Pace pace) throws MissingPeerException, IOException, InterruptedException;
}
