package io.rdma4j.testkit.simulation;

/** A run that did not do what the sequential model says. The message names the seed, which replays the run. */
public final class SimulationFailure extends AssertionError {
    private static final long serialVersionUID = 1L;

    SimulationFailure(String message) {
        super(message);
    }

    SimulationFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
