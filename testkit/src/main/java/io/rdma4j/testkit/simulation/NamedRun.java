package io.rdma4j.testkit.simulation;

import java.util.List;
import java.util.function.Supplier;

/** Lets a failure of a run name the seed, which replays it, and what the run was like. */
final class NamedRun {
    private NamedRun() {}

    /**
     * Does a run.
     *
     * @param seed its seed
     * @param description what it is like, when it has failed
     * @param lastEvents what happened before it failed
     * @param run the run
     * @throws SimulationFailure if it fails, with the seed
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
