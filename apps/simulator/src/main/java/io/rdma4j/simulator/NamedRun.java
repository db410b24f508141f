package io.rdma4j.simulator;

import java.util.List;
import java.util.function.Supplier;

/** Adds the seed, which replays the run, and a description of the run to its failure. */
final class NamedRun {
    private NamedRun() {}

    /**
     * Runs a simulation.
     *
     * @param seed the seed
     * @param description supplies a description of the run after a failure
     * @param lastEvents supplies the events before the failure
     * @param run the run
     * @throws SimulationFailure if the run fails; the message names the seed
     */
    static <T> T of(long seed, Supplier<String> description, Supplier<List<String>> lastEvents, Supplier<T> run) {
        try {
            return run.get();
        } catch (SimulationFailure failure) {
            throw new SimulationFailure(
                    "seed " + seed + " (" + description.get() + "): " + failure.getMessage(),
                    failure,
                    lastEvents.get());
        } catch (RuntimeException unexpected) {
            throw new SimulationFailure(
                    "seed " + seed + " (" + description.get() + "): " + unexpected, unexpected, lastEvents.get());
        }
    }
}
