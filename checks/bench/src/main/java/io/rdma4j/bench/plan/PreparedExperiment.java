package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.MissingPeerException;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * An experiment that is preceded by an unmeasured command.
 *
 * @param preparation the command; if it fails, the experiment fails
 * @param experiment the experiment
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
