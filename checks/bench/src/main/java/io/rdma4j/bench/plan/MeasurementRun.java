package io.rdma4j.bench.plan;

import io.rdma4j.bench.report.MachineStates;
import io.rdma4j.bench.report.Results;
import io.rdma4j.bench.worker.MissingPeerException;
import java.io.IOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Runs all experiments of a plan repeatedly, until all repetitions are done or the time is up. */
public final class MeasurementRun {
    /** Share of the processors that other processes used during a measurement, a figure of every experiment. */
    private static final String OTHERS_SHARE = "processorsUsedByOthers";

    private static final int MAX_TRIES = 3;

    private final List<Experiment> experiments;
    private final Pace pace;
    private final int patienceSeconds;
    private final RunProgress progress;
    private final Results results = new Results();
    private final Set<String> missing = new HashSet<>();
    private final long startNanos = System.nanoTime();
    private int repetitionsDone;

    /**
     * Creates a run.
     *
     * @param patienceSeconds maximum time to wait for a quiet machine before each measurement. With more than 0, a
     *     measurement is repeated, up to twice, if other processes used the processors or the machine's state changed
     */
    public MeasurementRun(List<Experiment> experiments, Pace pace, int patienceSeconds, RunProgress progress) {
        this.experiments = experiments;
        this.pace = pace;
        this.patienceSeconds = patienceSeconds;
        this.progress = progress;
    }

    /**
     * Runs the experiments.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public Results run() throws InterruptedException {
        for (int repetition = 1; repetition <= pace.repetitions(); repetition++) {
            long repetitionStart = System.nanoTime();
            runAll(repetition);
            long repetitionNanos = System.nanoTime() - repetitionStart;
            if (secondsLeft() < TimeUnit.NANOSECONDS.toSeconds(repetitionNanos)) {
                progress.note(repetition + " of " + pace.repetitions() + " repetitions fit into the time of --"
                        + pace.name());
                break;
            }
        }
        progress.end();
        return results;
    }

    /** Returns the number of repetitions that were made. */
    public int repetitionsDone() {
        return repetitionsDone;
    }

    private long secondsLeft() {
        return pace.budgetSeconds() - TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
    }

    private void runAll(int repetition) throws InterruptedException {
        progress.repetition(repetition, pace.repetitions());
        int number = 0;
        for (Experiment experiment : experiments) {
            number++;
            if (missing.contains(experiment.id())) {
                continue;
            }
            if (secondsLeft() <= 0) {
                if (results.of(experiment.id()).isEmpty()) {
                    results.addReason(
                            experiment.id(),
                            "no time was left; choose rows with --only, or allow more time with --full");
                }
                continue;
            }
            progress.experiment(number, experiments.size(), experiment.id());
            run(experiment, repetition);
        }
        repetitionsDone = repetition;
    }

    private Map<String, Double> runQuietly(Experiment experiment)
            throws MissingPeerException, IOException, InterruptedException {
        int maxTries = patienceSeconds > 0 ? MAX_TRIES : 1;
        double leastDisturbance = Double.MAX_VALUE;
        Map<String, Double> best = Map.of();
        for (int i = 0; i < maxTries && leastDisturbance > OtherLoad.QUIET; i++) {
            if (patienceSeconds > 0) {
                OtherLoad.awaitQuiet(patienceSeconds);
            }
            OtherLoad load = new OtherLoad();
            double before = ProcessorDistance.nanos();
            Map<String, Double> figures = new LinkedHashMap<>(experiment.run(pace));
            double after = ProcessorDistance.nanos();
            double share = load.share();
            figures.put(OTHERS_SHARE, share);
            figures.put(MachineStates.BEFORE, before);
            figures.put(MachineStates.AFTER, after);
            double disturbance = MachineStates.hasChanged(before, after) ? 1 : share;
            if (disturbance < leastDisturbance) {
                leastDisturbance = disturbance;
                best = figures;
            }
        }
        return best;
    }

    private void run(Experiment experiment, int repetition) throws InterruptedException {
        try {
            results.add(experiment.id(), repetition, runQuietly(experiment));
        } catch (MissingPeerException e) {
            missing.add(experiment.id());
            results.addReason(experiment.id(), String.valueOf(e.getMessage()));
        } catch (IOException e) {
            String reason = "repetition " + repetition + " failed: " + e.getMessage();
            results.addReason(experiment.id(), reason);
            progress.note(experiment.id() + ": " + reason);
        }
    }
}
