package io.rdma4j.simulator;

import org.junit.jupiter.api.Test;

/** Tests each rule with many sizes. The failure message names the seed. */
class RuleSimulationTest {
    private static final long RUNS = Long.getLong("rdma4j.simulation.runs", 10_000) / 5;

    @Test
    void everyRuleHoldsWithAllSizes() {
        for (long seed = 0; seed < RUNS; seed++) {
            RuleSimulation.run(seed);
        }
    }

    @Test
    void connectionsAreEstablishedAndEndedOnceAtBothEnds() {
        for (long seed = 0; seed < RUNS; seed++) {
            HandshakeSimulation.run(seed);
        }
    }
}
