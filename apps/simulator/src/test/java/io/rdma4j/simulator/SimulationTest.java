package io.rdma4j.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Tests random work over lossy networks with ten thousand seeds. The failure message names the seed.
 * {@code -Drdma4j.simulation.seed=N} replays it alone, and {@code -Drdma4j.simulation.runs=N} runs more.
 */
class SimulationTest {
    private static final long RUNS = Long.getLong("rdma4j.simulation.runs", 10_000);

    @Test
    void everySeedDeliversEveryByteOnceAndInOrder() {
        Long only = Long.getLong("rdma4j.simulation.seed");
        if (only != null) {
            Simulation.run(only);
            return;
        }
        AtomicLong frames = new AtomicLong();
        AtomicLong lost = new AtomicLong();
        AtomicLong broken = new AtomicLong();
        LongStream.range(0, RUNS).parallel().forEach(seed -> {
            Simulation.Result result = Simulation.run(seed);
            frames.addAndGet(result.deliveredFrames());
            lost.addAndGet(result.lostFrames());
            broken.addAndGet(result.brokenConnections());
        });
        assertThat(frames.get()).as("frames delivered in all runs").isGreaterThan(RUNS * 20);
        assertThat(lost.get()).as("frames lost in all runs").isGreaterThan(RUNS);
        // Seven retries can be exhausted at 20 % loss in each direction, but rarely are.
        assertThat(broken.get()).as("connections that broke").isLessThan(RUNS / 100);
    }

    @Test
    void equalSeedsGiveEqualRuns() {
        for (long seed = 0; seed < 20; seed++) {
            assertThat(Simulation.run(seed)).isEqualTo(Simulation.run(seed));
        }
    }

    @Test
    void differentSeedsGiveDifferentRuns() {
        assertThat(LongStream.range(0, 50)
                        .map(seed -> Simulation.run(seed).traceHash())
                        .distinct()
                        .count())
                .isGreaterThan(45);
    }
}
