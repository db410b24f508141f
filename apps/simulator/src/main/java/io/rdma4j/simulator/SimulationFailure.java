package io.rdma4j.simulator;

import java.util.List;

/** Thrown when a run differs from the sequential model. The message names the seed, which replays the run. */
public final class SimulationFailure extends AssertionError {
    private static final long serialVersionUID = 1L;

    private final transient List<String> lastEvents;

    SimulationFailure(String message) {
        super(message);
        lastEvents = List.of();
    }

    SimulationFailure(String message, Throwable cause) {
        this(message, cause, List.of());
    }

    SimulationFailure(String message, Throwable cause, List<String> lastEvents) {
        super(message, cause);
        this.lastEvents = List.copyOf(lastEvents);
    }

    /** Returns the events before the failure, the latest last; empty if none were recorded. */
    public List<String> lastEvents() {
        return lastEvents;
    }
}
