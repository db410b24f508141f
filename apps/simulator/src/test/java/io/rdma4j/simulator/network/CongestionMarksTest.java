package io.rdma4j.simulator.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.transport.CongestionMarks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Tests how connections share a link that marks packets instead of dropping them, in virtual time, with fixed seeds.
 * With packets of 1 KiB, headers take 6 % of the link.
 */
class CongestionMarksTest {
    private static final int MTU = 1024;

    /** 200 Mbit/s and 10 Gbit/s. */
    private static final long SLOW = 25_000_000;

    private static final long FAST = 1_250_000_000;

    private static final double PAYLOAD_SHARE = MTU / (MTU + 62.0);

    /**
     * The buffer holds the windows of all connections, so that only the rate can cause losses, and not an initial
     * burst.
     */
    private static final long BUFFER_BYTES = 2 << 20;

    private static VirtualNetwork run(
            long bytesPerSecond, long markBytes, long latencyMicros, CongestionMarks marks, double[] shares) {
        VirtualNetwork network =
                new VirtualNetwork(1, new NetworkFaults(0, 0, 0, 0, TimeUnit.MICROSECONDS.toNanos(latencyMicros), 0));
        SimulatedHost receiver = network.addHost();
        network.slowDown(receiver, bytesPerSecond, BUFFER_BYTES, markBytes);
        List<WritingFlow> flows = new ArrayList<>();
        for (int i = 0; i < shares.length; i++) {
            flows.add(new WritingFlow(network, receiver, MTU, marks));
            advance(network, 20);
        }
        advance(network, bytesPerSecond == SLOW ? 5000 : 1000);
        long[] before = flows.stream().mapToLong(WritingFlow::written).toArray();
        double capacity = bytesPerSecond * 2.0 * PAYLOAD_SHARE;
        advance(network, 2000);
        Arrays.setAll(shares, i -> (flows.get(i).written() - before[i]) / capacity);
        return network;
    }

    private static void advance(VirtualNetwork network, long millis) {
        long end = network.nowNanos() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (network.nowNanos() < end) {
            assertThat(network.step()).isTrue();
        }
    }

    private static void checkShares(long bytesPerSecond, long markBytes, long latencyMicros, int count) {
        double[] shares = new double[count];
        VirtualNetwork network = run(bytesPerSecond, markBytes, latencyMicros, CongestionMarks.ON, shares);
        assertThat(network.markedFrames()).isPositive();
        assertThat(network.lostFrames()).isZero();
        assertThat(Arrays.stream(shares).sum()).isGreaterThan(0.93);
        double largest = Arrays.stream(shares).max().orElseThrow();
        assertThat(Arrays.stream(shares).min().orElseThrow()).isGreaterThan(0.8 * largest);
    }

    @Test
    void twoConnectionsShareASlowLink() {
        checkShares(SLOW, 30_000, 20, 2);
    }

    @Test
    void fourConnectionsShareASlowLink() {
        checkShares(SLOW, 30_000, 20, 4);
    }

    @Test
    void twoConnectionsShareASlowLinkOfAMillisecond() {
        checkShares(SLOW, 30_000, 1000, 2);
    }

    @Test
    void oneConnectionFillsAFastLink() {
        checkShares(FAST, 60_000, 20, 1);
    }

    @Test
    void sixConnectionsShareAFastLink() {
        checkShares(FAST, 60_000, 20, 6);
    }

    @Test
    void nothingIsMarkedUnlessTheConnectionsAllowIt() {
        double[] shares = new double[2];
        VirtualNetwork network = run(SLOW, 30_000, 20, CongestionMarks.OFF, shares);
        assertThat(network.markedFrames()).isZero();
        assertThat(Arrays.stream(shares).sum()).isGreaterThan(0.8);
    }
}
