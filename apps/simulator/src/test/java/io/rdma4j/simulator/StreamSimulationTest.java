package io.rdma4j.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Tests RDMA sockets' streams over lossy networks with peers that die, with two thousand seeds. The failure message
 * names the seed. {@code -Drdma4j.simulation.seed=N} replays it alone, and {@code -Drdma4j.simulation.runs=N} runs
 * more.
 */
class StreamSimulationTest {
    private static final long RUNS = Long.getLong("rdma4j.simulation.runs", 2_000);

    @Test
    void everySeedDeliversEveryByteInOrderAndReportsEveryEnd() {
        Long only = Long.getLong("rdma4j.simulation.seed");
        if (only != null) {
            StreamSimulation.run(only);
            return;
        }
        AtomicLong frames = new AtomicLong();
        AtomicLong lost = new AtomicLong();
        AtomicLong broken = new AtomicLong();
        AtomicLong kills = new AtomicLong();
        LongStream.range(0, RUNS).parallel().forEach(seed -> {
            StreamSimulation.Result result = StreamSimulation.run(seed);
            frames.addAndGet(result.deliveredFrames());
            lost.addAndGet(result.lostFrames());
            broken.addAndGet(result.brokenStreams());
            kills.addAndGet(result.kills());
        });
        assertThat(frames.get()).as("frames delivered in all runs").isGreaterThan(RUNS * 50);
        assertThat(lost.get()).as("frames lost in all runs").isGreaterThan(RUNS);
        assertThat(broken.get()).as("streams that broke").isLessThan(RUNS / 100);
        assertThat(kills.get()).as("peers killed").isGreaterThan(RUNS / 20);
    }

    @Test
    void equalSeedsGiveEqualRuns() {
        for (long seed = 0; seed < 20; seed++) {
            assertThat(StreamSimulation.run(seed)).isEqualTo(StreamSimulation.run(seed));
        }
    }

    @Test
    void differentSeedsGiveDifferentRuns() {
        assertThat(LongStream.range(0, 50)
                        .map(seed -> StreamSimulation.run(seed).traceHash())
                        .distinct()
                        .count())
                .isGreaterThan(45);
    }
}
