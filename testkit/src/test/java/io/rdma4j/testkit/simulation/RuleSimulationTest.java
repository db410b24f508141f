package io.rdma4j.testkit.simulation;

import org.junit.jupiter.api.Test;

/** The rules, each with many sizes. A failing seed is named in the message. */
class RuleSimulationTest {
    private static final long RUNS = Long.getLong("rdma4j.simulation.runs", 10_000) / 5;

    @Test
    void everyRuleIsKeptWithAllSizes() {
        for (long seed = 0; seed < RUNS; seed++) {
            RuleSimulation.run(seed);
        }
    }

    @Test
    void connectionsAreSetUpAndTakenDownOnceAtBothEnds() {
        for (long seed = 0; seed < RUNS; seed++) {
            HandshakeSimulation.run(seed);
        }
    }
}
