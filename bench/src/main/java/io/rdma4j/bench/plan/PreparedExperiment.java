package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.MissingPeerException;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * An experiment before which a command runs that must not be measured with it.
 *
 * @param preparation words of the command; whether it succeeds shows in the experiment
 * @param experiment what is measured
 */
record PreparedExperiment(List<String> preparation, Experiment experiment) implements Experiment {
    @Override
    public String id() {
        return experiment.id();
    }

    @Override
    public Map<String, Double> run(Pace pace) throws MissingPeerException, IOException, InterruptedException {
        int _ = new ProcessBuilder(preparation)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        return experiment.run(pace);
    }
}
