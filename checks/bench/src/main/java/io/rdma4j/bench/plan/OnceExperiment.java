package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.MissingPeerException;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An experiment that runs once per session, because it takes long and varies little. Not thread safe. */
final class OnceExperiment implements Experiment {
    private static final int LIMIT_SECONDS = 90;

    private final Experiment experiment;
    private @Nullable Map<String, Double> figures;

    OnceExperiment(Experiment experiment) {
        this.experiment = experiment;
    }

    @Override
    public String id() {
        return experiment.id();
    }

    @Override
    public Map<String, Double> run(Pace pace) throws MissingPeerException, IOException, InterruptedException {
        if (figures != null) {
            return figures;
        }
        Map<String, Double> measured = experiment.run(pace.withLimit(LIMIT_SECONDS));
        figures = measured;
        return measured;
    }
}
