package io.rdma4j.soft.engine;

/** Runs single cycles of an engine's leader, for tests in other packages. */
public final class LeaderCycle {
    private LeaderCycle() {}

    /** Runs the cycle after a wake-up by input. The caller has the engine lock. */
    public static void run(Engine engine) {
        boolean _ = engine.leadCycle(() -> false, Engine.Poll.LINKS);
    }
}
