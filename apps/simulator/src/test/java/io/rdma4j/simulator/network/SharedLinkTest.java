package io.rdma4j.simulator.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests how connections share a link that is slower than all of them, in virtual time, with fixed seeds. */
class SharedLinkTest {
    private static final long BYTES_PER_SECOND = 1_250_000_000;
    private static final long BUFFER_BYTES = 512 << 10;
    private static final int MTU = 4096;

    private final VirtualNetwork network =
            new VirtualNetwork(1, new NetworkFaults(0, 0, 0, 0, TimeUnit.MICROSECONDS.toNanos(20), 0));
    private final SimulatedHost receiver = network.addHost();
    private final List<WritingFlow> flows = new ArrayList<>();

    SharedLinkTest() {
        network.slowDown(receiver, BYTES_PER_SECOND, BUFFER_BYTES);
    }

    /** Returns each connection's share of the link's capacity within a period. */
    private double[] shares(long millis) {
        long[] before = flows.stream().mapToLong(WritingFlow::written).toArray();
        long begin = network.nowNanos();
        long end = begin + TimeUnit.MILLISECONDS.toNanos(millis);
        while (network.nowNanos() < end) {
            assertThat(network.step()).isTrue();
        }
        double capacity = BYTES_PER_SECOND * (network.nowNanos() - begin) / 1e9;
        double[] shares = new double[before.length];
        Arrays.setAll(shares, i -> (flows.get(i).written() - before[i]) / capacity);
        return shares;
    }

    private static double total(double[] shares) {
        return Arrays.stream(shares).sum();
    }

    /** Returns Jain's fairness index: 1 if all shares are equal, 1/n if one connection has the whole link. */
    private static double fairness(double[] shares) {
        double squares = Arrays.stream(shares).map(share -> share * share).sum();
        return total(shares) * total(shares) / squares / shares.length;
    }

    @Test
    void singleConnectionFillsTheLink() {
        flows.add(new WritingFlow(network, receiver, MTU));
        assertThat(total(shares(20))).isGreaterThan(0.95);
        assertThat(network.lostFrames()).isZero();
    }

    @Test
    void thirdConnectionGetsAnEqualShareOfAFullLink() {
        checkSharesOfStaggeredConnections(3);
    }

    @Test
    void sixConnectionsThatStartOneByOneGetEqualShares() {
        checkSharesOfStaggeredConnections(6);
    }

    private void checkSharesOfStaggeredConnections(int count) {
        for (int i = 0; i < count; i++) {
            flows.add(new WritingFlow(network, receiver, MTU));
            shares(2);
        }
        shares(60);
        double[] shares = shares(40);
        assertThat(fairness(shares)).isGreaterThan(0.95);
        assertThat(total(shares)).isGreaterThan(0.8);
    }
}
