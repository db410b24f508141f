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

/** Runs all experiments of a plan, one after the other, and all again, until the repetitions or the time are over. */
public final class MeasurementRun {
    /** Part of the processors that others used during a measurement: a figure of every experiment. */
    private static final String OTHERS_SHARE = "processorsUsedByOthers";

    private static final int TRIES = 3;

    private final List<Experiment> experiments;
    private final Pace pace;
    private final int patienceSeconds;
    private final RunProgress progress;
    private final Results results = new Results();
    private final Set<String> missing = new HashSet<>();
    private final long began = System.nanoTime();
    private int repetitionsDone;

    /**
     * Prepares a session.
     *
     * @param patienceSeconds how long to wait for a quiet machine before each measurement; with more than 0, what was
     *     disturbed is measured again, up to twice: others used the processors, or the machine became another one
     */
    public MeasurementRun(List<Experiment> experiments, Pace pace, int patienceSeconds, RunProgress progress) {
        this.experiments = experiments;
        this.pace = pace;
        this.patienceSeconds = patienceSeconds;
        this.progress = progress;
    }

    /**
     * Runs it.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public Results run() throws InterruptedException {
        for (int repetition = 1; repetition <= pace.repetitions(); repetition++) {
            long repetitionBegan = System.nanoTime();
            runAll(repetition);
            long took = System.nanoTime() - repetitionBegan;
            if (secondsLeft() < TimeUnit.NANOSECONDS.toSeconds(took)) {
                progress.note(repetition + " of " + pace.repetitions() + " repetitions fit into the time of --"
                        + pace.name());
                break;
            }
        }
        progress.end();
        return results;
    }

    /** How many repetitions were made. */
    public int repetitionsDone() {
        return repetitionsDone;
    }

    private long secondsLeft() {
        return pace.budgetSeconds() - TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
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
                            experiment.id(), "no time was left; choose with --only, or give more with --full");
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
        int tries = patienceSeconds > 0 ? TRIES : 1;
        double leastDisturbance = Double.MAX_VALUE;
        Map<String, Double> best = Map.of();
        for (int i = 0; i < tries && leastDisturbance > OtherLoad.QUIET; i++) {
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
