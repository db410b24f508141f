package io.rdma4j.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests clusters under faults with a thousand seeds; {@code rdma4j sim --runs N} runs more. The failure message names
 * the seed, and {@code -Drdma4j.simulation.seed=N} replays it alone.
 *
 * <p>Each run detects stuck operations in virtual time. The timeout of this class only ends an endless loop; it is long
 * enough for a busy machine.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class ClusterTest {
    private static final long RUNS = Long.getLong("rdma4j.simulation.runs", 1_000);

    @Test
    void runsUnderFaultsMatchTheModelAndEndWithoutLeftovers() {
        Long only = Long.getLong("rdma4j.simulation.seed");
        if (only != null) {
            Cluster.run(only);
            return;
        }
        AtomicLong frames = new AtomicLong();
        AtomicLong lost = new AtomicLong();
        AtomicLong connections = new AtomicLong();
        AtomicLong completed = new AtomicLong();
        AtomicLong resolved = new AtomicLong();
        AtomicLong silent = new AtomicLong();
        AtomicLong datagrams = new AtomicLong();
        LongStream.range(0, RUNS).parallel().forEach(seed -> {
            Cluster.Result result = Cluster.run(seed, null);
            frames.addAndGet(result.deliveredFrames());
            lost.addAndGet(result.lostFrames());
            connections.addAndGet(result.connections());
            completed.addAndGet(result.completed());
            resolved.addAndGet(result.resolvedServices());
            silent.addAndGet(result.silentPeers());
            datagrams.addAndGet(result.socketDatagrams());
        });
        assertThat(frames.get()).as("frames delivered in all runs").isGreaterThan(RUNS * 500);
        assertThat(lost.get()).as("frames lost in all runs").isGreaterThan(RUNS * 20);
        assertThat(connections.get()).as("connections requested").isGreaterThan(RUNS * 4);
        // About half of them are cut off, rejected or ended by disruptions; the other half must complete their work.
        assertThat(completed.get()).as("connections that completed their work").isGreaterThan(connections.get() / 3);
        assertThat(resolved.get()).as("datagram services resolved").isGreaterThan(RUNS);
        assertThat(silent.get()).as("silent peers given up by keep-alives").isGreaterThan(RUNS / 30);
        assertThat(datagrams.get()).as("datagrams that arrived at sockets").isGreaterThan(2 * RUNS);
    }

    @Test
    void equalSeedsGiveEqualRunsAndTraces() {
        for (long seed = 0; seed < 20; seed++) {
            List<String> first = new ArrayList<>();
            List<String> second = new ArrayList<>();
            assertThat(Cluster.run(seed, first::add)).isEqualTo(Cluster.run(seed, second::add));
            assertThat(second).isEqualTo(first).isNotEmpty();
        }
    }

    @Test
    void differentSeedsGiveDifferentRuns() {
        assertThat(LongStream.range(0, 50).map(Cluster::run).distinct().count()).isEqualTo(50);
    }
}
