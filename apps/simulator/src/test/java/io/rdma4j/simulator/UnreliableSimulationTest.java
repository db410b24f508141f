package io.rdma4j.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Tests unreliable connections and datagrams over lossy networks, with three thousand seeds. The failure message names
 * the seed. {@code -Drdma4j.simulation.seed=N} replays it alone, and {@code -Drdma4j.simulation.runs=N} runs more.
 */
class UnreliableSimulationTest {
    private static final long RUNS = Long.getLong("rdma4j.simulation.runs", 3_000);

    @Test
    void everyMessageArrivesUnchangedAndAtMostOnce() {
        Long only = Long.getLong("rdma4j.simulation.seed");
        if (only != null) {
            UnreliableSimulation.run(only);
            return;
        }
        AtomicLong sent = new AtomicLong();
        AtomicLong arrived = new AtomicLong();
        AtomicLong atMembers = new AtomicLong();
        AtomicLong lost = new AtomicLong();
        AtomicLong perfect = new AtomicLong();
        LongStream.range(0, RUNS).parallel().forEach(seed -> {
            UnreliableSimulation.Result result = UnreliableSimulation.run(seed);
            sent.addAndGet(result.sentMessages());
            arrived.addAndGet(result.arrivedMessages());
            atMembers.addAndGet(result.arrivedAtMembers());
            lost.addAndGet(result.lostFrames());
            perfect.addAndGet(result.isPerfect() ? 1 : 0);
        });
        assertThat(sent.get()).as("messages sent in all runs").isGreaterThan(RUNS * 10);
        assertThat(arrived.get()).as("messages that arrived").isBetween(sent.get() / 4, sent.get());
        assertThat(atMembers.get())
                .as("messages that arrived at members of groups")
                .isGreaterThan(RUNS);
        assertThat(lost.get()).as("frames lost in all runs").isGreaterThan(RUNS);
        assertThat(perfect.get()).as("runs in which all had to arrive").isGreaterThan(RUNS / 20);
    }

    @Test
    void equalSeedsGiveEqualRuns() {
        for (long seed = 0; seed < 20; seed++) {
            assertThat(UnreliableSimulation.run(seed)).isEqualTo(UnreliableSimulation.run(seed));
        }
    }
}
